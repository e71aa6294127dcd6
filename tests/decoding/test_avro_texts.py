"""What no column can be is the JSON text of the value, and what has no column is not read."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.decoding.avro_decoding import (
    AvroTable,
    AvroTogether,
    Judged,
    encoded,
    fixed,
    framed,
    logical,
    record,
    schema,
)
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark
TOGETHER = AvroTogether()


def plain(found: Any) -> Any:
    return json.loads(json.dumps(found).replace('"logicalType"', '"was"'))


NODE = record(
    {
        "value": "string",
        "left": ["null", "a.Node"],
        "others": {"type": "array", "items": "a.Node"},
        "either": ["null", "a.Node", "int"],
    },
    "a.Node",
    left=None,
)


def node(value: str, **more: Any) -> dict[str, Any]:
    return {"value": value, "left": None, "others": [], "either": None, **more}


@TOGETHER.clause
def test_where_a_schema_holds_itself_is_json_text() -> Judged:
    inner = node("b", left=node("c"), either=7)
    whole = node("a", left=inner, others=[node("d")], either=("a.Node", node("e")))
    end = '"left":null,"others":[],"either":null}'
    found = yield AvroTable(schema(NODE), [encoded(NODE, whole), encoded(NODE, node("z"))])
    assert found == [
        {
            "value": "a",
            "left": f'{{"value":"b","left":{{"value":"c",{end},"others":[],'
            '"either":{"member0":null,"member1":7}}',
            "others": [f'{{"value":"d",{end}'],
            "either": {"member0": f'{{"value":"e",{end}', "member1": None},
        },
        node("z"),
    ]


@TOGETHER.clause
def test_the_text_has_the_fields_of_its_writer() -> Judged:
    theirs = record(
        {"value": "string", "left": ["null", "a.Node", "string"], "at": logical("int", "date")},
        "a.Node",
    )
    ours = record({"left": ["null", "a.Node"], "value": "string"}, "a.Node")
    other = record({"value": "string", "left": ["null", record({}, "a.Other")]}, "a.Node")
    gone = record({"value": "string"}, "a.Node")
    ours["fields"][0]["default"] = None
    leaf = {"value": "b", "left": None, "at": 2}
    values = [
        framed(1, encoded(plain(theirs), {"value": "a", "left": leaf, "at": 1})),
        framed(1, encoded(plain(theirs), {"value": "a", "left": "text", "at": 1})),
        framed(2, encoded(other, {"value": "a", "left": {}})),
        framed(3, encoded(gone, {"value": "a"})),
    ]
    writers = {"1": schema(theirs), "2": schema(other, "2"), "3": schema(gone, "3")}
    found = yield AvroTable(schema(ours, "9"), values, writers)
    assert found == [
        {"value": "a", "left": '{"value":"b","left":null,"at":2}'},
        Undecodable("schema id 1: left: expected [null, a.Node], found string"),
        Undecodable("schema id 2: left: expected [null, a.Node], found record a.Other"),
        {"value": "a", "left": None},
    ]


@TOGETHER.clause
def test_a_default_is_json_text_where_its_column_is() -> Judged:
    tree = record({"n": "int", "held": {"type": "array", "items": "a.T"}}, "a.T")
    more = {"none": "null", "empty": record({}, "a.E"), "tree": tree}
    default = {"n": 5, "held": [{"n": 6, "held": []}]}
    reader = record({"id": "int", **more}, none=None, empty={}, tree=default)
    writers = {"1": schema(record({"id": "int"}))}
    (found,) = yield AvroTable(schema(reader, "9"), [framed(1, b"\x02")], writers)
    held = ['{"n":6,"held":[]}']
    assert found == {"id": 1, "none": None, "empty": "{}", "tree": {"n": 5, "held": held}}


@TOGETHER.clause
def test_records_without_fields_and_types_of_null_are_text() -> Judged:
    fields = {
        "empty": record({}, "a.E"),
        "some": {"type": "array", "items": ["null", "a.E"]},
        "none": "null",
        "only": ["null"],
        "nones": {"type": "map", "values": "null"},
    }
    body = b"\x04\x00\x02\x00" + b"\x00" + b"\x02\x02k\x00"
    (found,) = yield AvroTable(schema(record(fields)), [body])
    assert found == {
        "empty": "{}",
        "some": [None, "{}"],
        "none": None,
        "only": None,
        "nones": {"k": None},
    }


@TOGETHER.clause
def test_text_of_too_many_levels_is_refused() -> Judged:
    bodies = [b"\x02a" + b"\x02\x02b" * depth + b"\x00" for depth in (200, 201)]
    chain = record({"value": "string", "left": ["null", "a.Tree"]}, "a.Tree")
    found = yield AvroTable(schema(chain), bodies)
    assert isinstance(found[0], dict)
    assert isinstance(found[1], Undecodable)
    assert found[1].reason.endswith("left: expected at most 200 levels, found more")


WIDE = logical("bytes", "decimal", precision=64, scale=2)
FINE = logical("bytes", "decimal", precision=64, scale=40)
NUMBERS = record(
    {
        "amount": ["null", WIDE],
        "block": logical(fixed("a.Block", 32), "decimal", precision=64, scale=2),
        "fine": FINE,
    }
)


def amounts(amount: int | None, fine: int = 1) -> bytes:
    def sized(number: int) -> bytes:
        return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)

    values = {
        "amount": None if amount is None else sized(amount),
        "block": (amount or 0).to_bytes(32, "big", signed=True),
        "fine": sized(fine),
    }
    return encoded(plain(NUMBERS), values)


@TOGETHER.clause
def test_of_a_decimal_of_more_digits_a_column_has_those_that_fit() -> Judged:
    most = 10**38 - 1
    values = [amounts(12345), amounts(-most), amounts(most + 1), amounts(None, 10**64)]
    found = yield AvroTable(schema(NUMBERS), values)
    kept = Decimal("-" + "9" * 36 + ".99")
    assert found == [
        {"amount": Decimal("123.45"), "block": Decimal("123.45"), "fine": "1E-40"},
        {"amount": kept, "block": kept, "fine": "1E-40"},
        Undecodable(f"amount: expected DECIMAL(38,2), found 1{'0' * 36}.00"),
        Undecodable(
            f"fine: expected DECIMAL(64,40), found 1{'0' * 24}.{'0' * 40}",
        ),
    ]


@TOGETHER.clause
def test_the_precision_of_a_writer_does_not_matter() -> Judged:
    narrow = record({"amount": logical("bytes", "decimal", precision=9, scale=2)})
    reader = schema(record({"amount": ["null", WIDE]}), "9")
    (found,) = yield AvroTable(reader, [framed(1, b"\x02\x7b")], {"1": schema(narrow)})
    assert found == {"amount": Decimal("1.23")}


INNER = record({"a": "int", "A": "string", "b": "int"}, "a.Inner")
NAMES = record({"id": "int", "ID": "string", "_topic": "string", "__op": "string", "inner": INNER})
NAMED = encoded(
    NAMES,
    {
        "id": 1,
        "ID": "twin",
        "_topic": "ours",
        "__op": "c",
        "inner": {"a": 2, "A": "twin", "b": 3},
    },
)


@TOGETHER.clause
def test_a_field_whose_name_no_column_can_have_is_not_read() -> Judged:
    (found,) = yield AvroTable(schema(NAMES), [NAMED])
    assert found == {"id": 1, "__op": "c", "inner": {"a": 2, "b": 3}}


@TOGETHER.clause
def test_a_field_whose_name_no_column_can_have_is_rescued() -> Judged:
    (found,) = yield AvroTable(schema(NAMES), [NAMED], rescue=True)
    told = '{"ID":"twin","_topic":"ours","inner":{"A":"twin"}}'
    assert found["_rescued"] == told  # type: ignore[index]


@TOGETHER.clause
def test_a_field_whose_name_no_column_can_have_is_rescued_of_any_writer() -> Judged:
    theirs = record({"_topic": "string", "new": "null", "ID": "string", "id": "int"})
    reader = record({"id": "int", "ID": "string", "_topic": "string"})
    body = framed(1, encoded(theirs, {"_topic": "t", "new": None, "ID": "x", "id": 1}))
    (found,) = yield AvroTable(schema(reader, "9"), [body], {"1": schema(theirs)}, rescue=True)
    assert found == {"id": 1, "_rescued": '{"_topic":"t","new":null,"ID":"x"}'}
