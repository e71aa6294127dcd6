"""From a message's bytes to a row: what was set arrives, and anything else is an error."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.decoding.protobuf_decoding import Old, read, read_old, some
from tests.worlds.protobuf_schemas import ORDER, message_class

pytestmark = pytest.mark.spark

Order = message_class(ORDER, "shop.Order")
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)

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


def drawn_item(made: Any, found: Any) -> dict[str, Any]:
    sku, tags, (number, name) = found
    made.sku, made.state = sku, number
    made.tags.extend(tags)
    made.SetInParent()
    return {"sku": sku, "tags": tags, "state": name}


def tree(value: Any) -> Any:
    """As JSON's parser gives it back: the product writes whole numbers without a fraction."""
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case dict():
            return {name: tree(value[name]) for name in sorted(value)}
        case list():
            return [tree(inner) for inner in value]
    return value


UNSET: dict[str, Any] = {
    **dict.fromkeys((each.name for each in Order.DESCRIPTOR.fields), None),
    **dict.fromkeys(("i", "l", "u", "v"), 0),
    **dict.fromkeys(("f", "d"), 0.0),
    **{name: [] for name in ("ri", "items", "states", "m", "by", "flags")},
    "b": False,
    "s": "",
    "x": b"",
    "e": "NEW",
}
SCALARS: dict[str, Any] = {
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


@st.composite
def orders(draw: st.DrawFn) -> tuple[bytes, dict[str, Any]]:
    """A message, and the row that it is."""
    made, row = Order(), dict(UNSET)
    for name in draw(st.sets(st.sampled_from(sorted(SCALARS)))):
        row[name] = draw(SCALARS[name])
        setattr(made, name, row[name])
    made.e, row["e"] = draw(status)
    row["ri"] = draw(st.lists(int64, max_size=3))
    made.ri.extend(row["ri"])
    row["items"] = [drawn_item(made.items.add(), each) for each in draw(st.lists(item))]
    states = draw(st.lists(status, max_size=3))
    made.states.extend(number for number, _ in states)
    row["states"] = [name for _, name in states]
    row["m"] = sorted(draw(st.dictionaries(text, int32, max_size=3)).items())
    made.m.update(row["m"])
    by = draw(st.dictionaries(int32, item, max_size=3))
    found = {str(key): drawn_item(made.by[key], each) for key, each in by.items()}
    row["by"] = sorted(found.items(), key=lambda each: each[0])
    flags = draw(st.dictionaries(st.booleans(), text))
    made.flags.update(flags)
    row["flags"] = sorted(("true" if key else "false", each) for key, each in flags.items())
    return made.SerializeToString(), row


@some
@given(st.lists(orders(), min_size=20, max_size=50))
def test_what_was_set_arrives(spark: SparkSession, drawn: list[tuple[bytes, Any]]) -> None:
    found = read(spark, *(value for value, _ in drawn))
    for (_, row), ours in zip(drawn, found, strict=True):
        assert ours == row


@st.composite
def with_known_messages(draw: st.DrawFn) -> tuple[bytes, dict[str, Any]]:
    """Messages of Google's; what is JSON text in the row is told as its value."""
    made = Order()
    at = draw(st.datetimes(FIRST, LAST))
    since = at - datetime(1970, 1, 1)
    made.at.seconds, nanos = since // timedelta(seconds=1), at.microsecond * 1000
    made.at.nanos = nanos + draw(st.integers(0, 999))
    span = draw(st.integers(-315_576_000_000 * 10**9, 315_576_000_000 * 10**9))
    sign = -1 if span < 0 else 1
    made.took.seconds, made.took.nanos = (sign * each for each in divmod(abs(span), 10**9))
    made.w.value, made.ws.value = draw(int64), draw(text)
    members, some = draw(st.dictionaries(text, json_value, max_size=3)), draw(st.lists(json_value))
    for each in (made.tree, made.some, made.any_json.struct_value):
        each.SetInParent()
    made.tree.update(members)
    made.some.extend(some)
    made.any_json.struct_value.update(members)
    made.packed.type_url, made.packed.value = draw(text), draw(st.binary(max_size=5))
    made.nothing.SetInParent()
    made.mask.paths.append("a.b")
    return made.SerializeToString(), {
        "at": at.replace(tzinfo=UTC),
        "took": Decimal(span).scaleb(-9),
        "some": tree(some),
        "w": made.w.value,
        "ws": made.ws.value,
        "tree": tree(members),
        "any_json": tree(members),
        "nothing": True,
        "mask": {"paths": ["a.b"]},
        "packed": {"type_url": made.packed.type_url, "value": made.packed.value},
    }


@some
@given(st.lists(with_known_messages(), min_size=20, max_size=50))
def test_the_known_messages_arrive_as_values(
    spark: SparkSession, drawn: list[tuple[bytes, Any]]
) -> None:
    found = read(spark, *(value for value, _ in drawn))
    for (_, row), ours in zip(drawn, found, strict=True):
        assert isinstance(ours, dict)
        for name in ("tree", "some", "any_json"):
            ours[name] = json.loads(ours[name])
        assert {**ours, **row} == ours
        assert list(ours["tree"]) == sorted(ours["tree"])


def test_json_is_written_in_one_way(spark: SparkSession) -> None:
    made = Order()
    made.tree.update({"é": 1, "b": [None, True, '\n"x'], "a": {"y": 0.1, "x": -2.0}})
    numbers = [2.0**53, -(2.0**53) + 1, 1e22, 2e-3, 5e-324, -0.0]
    made.some.extend(numbers)
    (found,) = read(spark, made.SerializeToString())
    assert isinstance(found, dict)
    assert found["tree"] == '{"a":{"x":-2,"y":0.1},"b":[null,true,"\\n\\"x"],"é":1}'
    assert found["some"] == "[9.007199254740992E15,-9007199254740991,1.0E22,0.002,4.9E-324,0]"


def test_what_is_not_set_is_its_default_or_null(spark: SparkSession) -> None:
    assert read(spark, b"") == [UNSET]


def test_a_default_that_was_set_is_not_null_where_presence_is_told(spark: SparkSession) -> None:
    made = Order(oi=0, os="", n=0)
    made.w.SetInParent()
    (found,) = read(spark, made.SerializeToString())
    assert found == {**UNSET, "oi": 0, "os": "", "n": 0, "w": 0}


def test_numbers_that_are_none_are_kept(spark: SparkSession) -> None:
    (found,) = read(spark, Order(f=math.nan, d=-math.inf).SerializeToString())
    assert isinstance(found, dict)
    assert math.isnan(found["f"])
    assert found["d"] == -math.inf


def test_what_is_repeated_counts_as_protobuf_has_it(spark: SparkSession) -> None:
    """The last number, both halves of a message, the last member of a oneof, a map's last value."""
    halves = [Order(i=1, ri=[1], m={"k": 1}, a="x"), Order(i=2, ri=[2], m={"k": 2}, n=3)]
    halves[0].at.seconds, halves[1].at.nanos = 5, 7000
    (found,) = read(spark, b"".join(each.SerializeToString() for each in halves))
    assert isinstance(found, dict)
    told = {name: found[name] for name in ("i", "ri", "m", "a", "n", "at")}
    at = datetime(1970, 1, 1, 0, 0, 5, 7, UTC)
    assert told == {"i": 2, "ri": [1, 2], "m": [("k", 2)], "a": None, "n": 3, "at": at}


def test_what_newer_writers_add_is_left_out(spark: SparkSession) -> None:
    added = b"\xa0\x06\x05" + b"\xaa\x06\x01x" + b"\xa3\x06\x08\x01\xa4\x06" + b"\xa5\x06\0\0\0\0"
    assert read(spark, Order(i=5).SerializeToString() + added) == [{**UNSET, "i": 5}]


def test_proto2_what_is_not_set_is_null_whatever_its_default(spark: SparkSession) -> None:
    bare, group = read_old(
        spark, *(Old(r=1, **each).SerializeToString() for each in ({}, {"g": {"i": 5}}))
    )
    assert isinstance(bare, dict)
    assert isinstance(group, dict)
    assert (bare["r"], bare["k"], bare["s"], bare["g"]) == (1, None, None, None)
    assert group["g"] == {"i": 5}
