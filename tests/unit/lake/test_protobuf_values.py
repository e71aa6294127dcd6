"""From a message's bytes to a row: what was set arrives, and anything else is an error."""

from __future__ import annotations

import json
import math
import struct
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sluice.lake.decoding.protobuf_values import message_reader
from sluice.spec.protobuf_schema import message_in, message_of, serialized_files

from tests.worlds.protobuf_schemas import ORDER, message_class, of_file

Order = message_class(ORDER, "shop.Order")
NAMES = [each.name for each in Order.DESCRIPTOR.fields]
_READ = message_reader(message_of(of_file(ORDER), "shop.Order"))
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)

PROTO2 = """
syntax = "proto2"; package old;
message M {
  required int32 r = 1; optional string s = 2; optional Kind k = 3 [default = B];
  repeated Kind kinds = 4; map<string, Kind> by = 5; optional M2 m = 6; repeated string ss = 7;
  map<string, string> texts = 8; optional group G = 9 { optional int32 i = 1; }
}
message M2 { required int32 r = 1; optional Kind k = 2; }
enum Kind { Z = 0; A = 1; B = 2; }
"""
Old = message_class(PROTO2, "old.M")
_read_old = message_reader(message_of(of_file(PROTO2), "old.M"))


def read(data: bytes) -> dict[str, Any] | str:
    """The product's row, by its fields' names."""
    found = _READ(data)
    return found if isinstance(found, str) else dict(zip(NAMES, found, strict=True))


def read_old(data: bytes) -> dict[str, Any] | str:
    found = _read_old(data)
    names = [each.name for each in Old.DESCRIPTOR.fields]
    return found if isinstance(found, str) else dict(zip(names, found, strict=True))


def single(value: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


text = st.text(st.characters(codec="utf-8"), max_size=5)
int32, int64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
status = st.sampled_from([(0, "NEW"), (1, "SENT"), (-1, "BACK")])
item = st.tuples(text, st.lists(text, max_size=2), status)
finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x or 0.0)
json_value = st.recursive(
    st.none() | st.booleans() | finite | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)


def drawn_item(made: Any, found: Any) -> tuple[Any, ...]:
    sku, tags, (number, name) = found
    made.sku, made.state = sku, number
    made.tags.extend(tags)
    made.SetInParent()
    return sku, tags, name


def json_text(value: Any) -> str:
    """As the product writes a tree: whole numbers without a fraction."""

    def whole(each: Any) -> Any:
        match each:
            case float() if each.is_integer() and abs(each) < 2**53:
                return int(each)
            case dict():
                return {name: whole(inner) for name, inner in each.items()}
            case list():
                return [whole(inner) for inner in each]
        return each

    return json.dumps(whole(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@given(st.data())
def test_what_was_set_arrives(data: st.DataObject) -> None:
    draw = data.draw
    made, expected = Order(), dict(read(b""))
    scalars: dict[str, Any] = {
        **dict.fromkeys(("i", "oi"), int32),
        "l": int64,
        "u": st.integers(0, 2**32 - 1),
        "v": st.integers(0, 2**64 - 1),
        "d": st.floats(allow_nan=False),
        "f": st.floats(width=32, allow_nan=False),
        "b": st.booleans(),
        **dict.fromkeys(("s", "os"), text),
        "x": st.binary(max_size=5),
    }
    for name in draw(st.sets(st.sampled_from(sorted(scalars)))):
        value = draw(scalars[name])
        setattr(made, name, value)
        expected[name] = value
    made.e, expected["e"] = draw(status)
    made.ri.extend(expected["ri"])
    expected["ri"] = draw(st.lists(int64, max_size=3))
    made.ri.extend(expected["ri"])
    expected["items"] = [drawn_item(made.items.add(), each) for each in draw(st.lists(item))]
    states = draw(st.lists(status, max_size=3))
    made.states.extend(number for number, _ in states)
    expected["states"] = [name for _, name in states]
    expected["m"] = sorted(draw(st.dictionaries(text, int32, max_size=3)).items())
    made.m.update(expected["m"])
    by = draw(st.dictionaries(int32, item, max_size=3))
    expected["by"] = sorted((str(key), drawn_item(made.by[key], each)) for key, each in by.items())
    flags = draw(st.dictionaries(st.booleans(), text))
    made.flags.update(flags)
    expected["flags"] = sorted(("true" if key else "false", each) for key, each in flags.items())
    found = read(made.SerializeToString())
    assert found == expected


@given(st.data())
def test_the_known_messages_arrive_as_values(data: st.DataObject) -> None:
    draw = data.draw
    made = Order()
    at = draw(st.datetimes(FIRST, LAST))
    since = at - datetime(1970, 1, 1)
    made.at.seconds, nanos = since // timedelta(seconds=1), at.microsecond * 1000
    made.at.nanos = nanos + draw(st.integers(0, 999))
    span = draw(st.integers(-315_576_000_000 * 10**9, 315_576_000_000 * 10**9))
    sign = -1 if span < 0 else 1
    made.took.seconds, made.took.nanos = (sign * each for each in divmod(abs(span), 10**9))
    made.w.value, made.ws.value = draw(int64), draw(text)
    tree, some = draw(st.dictionaries(text, json_value, max_size=3)), draw(st.lists(json_value))
    for each in (made.tree, made.some, made.any_json.struct_value):
        each.SetInParent()
    made.tree.update(tree)
    made.some.extend(some)
    made.any_json.struct_value.update(tree)
    made.packed.type_url, made.packed.value = draw(text), draw(st.binary(max_size=5))
    made.nothing.SetInParent()
    made.mask.paths.append("a.b")
    found = read(made.SerializeToString())
    assert isinstance(found, dict)
    assert datetime(1970, 1, 1) + timedelta(microseconds=found["at"]) == at
    assert found["took"] == Decimal(span).scaleb(-9)
    assert (found["w"], found["ws"]) == (made.w.value, made.ws.value)
    assert (found["tree"], found["any_json"]) == (json_text(tree), json_text(tree))
    assert found["some"] == json_text(some)
    assert found["packed"] == (made.packed.type_url, made.packed.value)
    assert (found["nothing"], found["mask"]) == (True, (["a.b"],))


def test_what_is_not_set_is_its_default_or_null() -> None:
    found = read(b"")
    assert isinstance(found, dict)
    assert {name: value for name, value in found.items() if value is not None} == {
        "i": 0,
        "l": 0,
        "u": 0,
        "v": 0,
        "f": 0.0,
        "d": 0.0,
        "b": False,
        "s": "",
        "x": b"",
        "e": "NEW",
        "ri": [],
        "items": [],
        "states": [],
        "m": [],
        "by": [],
        "flags": [],
    }


def test_a_default_that_was_set_is_not_null_where_presence_is_told() -> None:
    made = Order(oi=0, os="", n=0)
    made.w.SetInParent()
    found = read(made.SerializeToString())
    assert isinstance(found, dict)
    assert (found["oi"], found["os"], found["n"], found["w"]) == (0, "", 0, 0)
    assert (found["a"], found["c"]) == (None, None)


def test_numbers_that_are_none_are_kept() -> None:
    found = read(Order(f=math.nan, d=-math.inf).SerializeToString())
    assert isinstance(found, dict)
    assert math.isnan(found["f"])
    assert found["d"] == -math.inf


LAST_SECOND = 253_402_300_799
ERRORS = [
    (Order(e=7), "e: expected shop.Status, found 7"),
    (Order(states=[0, 9]), "states[1]: expected shop.Status, found 9"),
    (
        Order(items=[{}, {"state": 5}]),
        "items[1].state: expected shop.Status, found 5",
    ),
    (Order(by={3: {"state": 5}}), 'by["3"].state: expected shop.Status, found 5'),
    (
        Order(at={"seconds": LAST_SECOND + 1}),
        'at: expected TIMESTAMP, found {"seconds":253402300800,"nanos":0}',
    ),
    (Order(at={"nanos": -1}), 'at: expected TIMESTAMP, found {"seconds":0,"nanos":-1}'),
    (
        Order(took={"seconds": 1, "nanos": -1}),
        'took: expected DECIMAL(21,9), found {"seconds":1,"nanos":-1}',
    ),
    (
        Order(any_json={"number_value": math.nan}),
        "any_json: expected a number that JSON has, found nan",
    ),
]


@pytest.mark.parametrize(("made", "error"), ERRORS, ids=[error for _, error in ERRORS])
def test_a_value_that_does_not_fit_says_where_expected_and_found(made: Any, error: str) -> None:
    assert read(made.SerializeToString()) == error


def deep(levels: int) -> bytes:
    """A Value of so many lists in one another."""
    value = b""
    for _ in range(levels):
        inner = b"\x0a" + varint(len(value)) + value
        value = b"\x32" + varint(len(inner)) + inner
    return b"\xd2\x01" + varint(len(value)) + value


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


NOT_ONE = "not one shop.Order message: "
BROKEN = {
    "cut": b"\x08",
    "garbage behind": Order(i=1).SerializeToString() + b"\x00",
    "number zero": b"\x00\x00",
    "a wire type that is none": b"\x0e",
    "a length beyond the end": b"\x42\xff\xff\xff\xff\x07ab",
    "a length beyond 31 bits": b"\x42\xff\xff\xff\xff\x0fab",
    "an endless number": b"\x08" + b"\xff" * 11,
    "a group without its end": b"\xa3\x06",
    "an end without its group": b"\xa4\x06",
    "text that is not UTF-8": b"\x42\x01\xff",
    "a surrogate": b"\x42\x03\xed\xa0\x80",
    "text within that is not UTF-8": b"\x72\x03\x0a\x01\xff",
    "a map's key that is not UTF-8": b"\x7a\x03\x0a\x01\xff",
    "more than 100 levels": deep(60),
    "groups in one another": b"\xa3\x06" * 200 + b"\xa4\x06" * 200,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_bytes_that_are_no_message_are_an_error(data: bytes) -> None:
    found = read(data)
    assert isinstance(found, str)
    assert found.startswith(NOT_ONE)
    assert len(found) > len(NOT_ONE)


def test_what_newer_writers_add_is_left_out() -> None:
    added = b"\xa0\x06\x05" + b"\xaa\x06\x01x" + b"\xa3\x06\x08\x01\xa4\x06" + b"\xa5\x06\0\0\0\0"
    assert read(Order(i=5).SerializeToString() + added) == read(Order(i=5).SerializeToString())


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\x0a\x01x", "i: expected INT, found a value of wire type 2"),
        (b"\x40\x05", "s: expected STRING, found a value of wire type 0"),
        (b"\x78\x05", "m: expected MAP<STRING, INT>, found a value of wire type 0"),
        (b"\x72\x02\x08\x01", "items[0].sku: expected STRING, found a value of wire type 0"),
        (
            b"\xaa\x01\x02\x0a\x00",
            "at.seconds: expected BIGINT, found a value of wire type 2",
        ),
        (b"\xc2\x01\x02\x08\x01", "ws.value: expected STRING, found a value of wire type 0"),
        (
            b"\xf2\x01\x02\x08\x01",
            "mask.paths: expected ARRAY<STRING>, found a value of wire type 0",
        ),
    ],
)
def test_a_field_of_another_wire_type_is_not_passed_over(data: bytes, error: str) -> None:
    assert read(data) == error


@given(st.binary(max_size=60))
@example(b"\xd2\x01\x00")
def test_any_bytes_are_a_row_or_an_error(data: bytes) -> None:
    assert isinstance(read(data), dict | str)
    assert isinstance(read_old(data), dict | str)


FULL = Order(
    i=1,
    v=2**64 - 1,
    s="é",
    x=b"\0",
    e=1,
    oi=0,
    ri=[1, -1],
    items=[{"sku": "a", "tags": ["b"]}],
    m={"k": 1},
    by={1: {"sku": "c"}},
    a="z",
    at={"seconds": 1},
    took={"nanos": 5},
    w={"value": 3},
    some={"values": [{}]},
).SerializeToString()


@given(st.data())
def test_a_damaged_message_is_a_row_or_an_error(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(FULL)))
    end = data.draw(st.integers(start, min(start + 4, len(FULL))))
    damaged = FULL[:start] + data.draw(st.binary(max_size=4)) + FULL[end:]
    assert isinstance(read(damaged), dict | str)


def test_the_workers_have_the_message_from_its_files_alone() -> None:
    files = serialized_files(message_of(of_file(ORDER), "shop.Order"))
    assert message_reader(message_in(files, "shop.Order"))(FULL) == _READ(FULL)


def test_proto2_a_required_field_without_a_value_is_an_error() -> None:
    assert read_old(b"") == "r: expected a value, as it is required, found none"
    assert read_old(Old(r=1, m={}).SerializePartialToString()) == (
        "m.r: expected a value, as it is required, found none"
    )


def test_proto2_a_required_field_is_missed_beside_a_map_as_well() -> None:
    """Protobuf's own list of what is missing names the map, or ends the process."""
    source = """
    syntax = "proto2"; package p;
    message M { map<string, Kind> by = 1; repeated group G = 2 { required string x = 1; } }
    enum Kind { Z = 0; }
    """
    made = message_class(source, "p.M")(by={"k": 0}, g=[{"x": "a"}, {}, {}])
    found = message_reader(message_of(of_file(source), "p.M"))(made.SerializePartialToString())
    assert found == "g[1].x: expected a value, as it is required, found none"


def test_proto2_what_is_not_set_is_null_whatever_its_default() -> None:
    found = read_old(Old(r=1).SerializeToString())
    assert isinstance(found, dict)
    assert (found["r"], found["k"], found["s"], found["g"]) == (1, None, None, None)
    assert read_old(Old(r=1, g={"i": 5}).SerializeToString())["g"] == (5,)  # type: ignore[index]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\x18\x07", "k: expected old.Kind, found 7"),
        (b"\x20\x07", "kinds: expected old.Kind, found 7"),
        (b"\x22\x02\x01\x07", "kinds: expected old.Kind, found 7"),
        (
            b"\x2a\x05\x0a\x01k\x10\x07",
            "by: expected MAP<STRING, STRING>, found a value of wire type 2",
        ),
        (b"\x32\x04\x08\x01\x10\x07", "m.k: expected old.Kind, found 7"),
        (b"\x12\x01\xff", 's: expected STRING, found "\N{REPLACEMENT CHARACTER}"'),
        (b"\x3a\x01\xff", 'ss[0]: expected STRING, found "\N{REPLACEMENT CHARACTER}"'),
        (b"\x42\x06\x0a\x01k\x12\x01\xff", 'texts["k"]: expected STRING, found'),
        (b"\x42\x06\x0a\x01\xff\x12\x01k", "texts[…]: expected STRING, found"),
    ],
)
def test_proto2_what_its_parser_passes_over_is_an_error(data: bytes, error: str) -> None:
    found = read_old(b"\x08\x01" + data)
    assert isinstance(found, str)
    assert found.startswith(error)
