"""JSON records that lie within others (`at`), also as text, and those that are arrays: on Spark."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.spec_rows import rows

pytestmark = pytest.mark.spark

ID = "id BIGINT, name STRING"
NOT_ONE = "not one JSON object"
WITHIN = f"payload: {NOT_ONE}"


def spec(at: str, schema: str = ID, **keys: Any) -> dict[str, Any]:
    more = {each: keys.pop(each) for each in ("allow_unmatched", "compression") if each in keys}
    return {"format": {"type": "json", "at": at, "schema": schema, **more}, **keys}


def row(number: int | None, name: str | None = None) -> dict[str, Any]:
    return {"id": number, "name": name}


def as_text(found: Any, times: int = 1) -> str:
    """JSON, as a text within JSON so many times."""
    text = json.dumps(found, ensure_ascii=False)
    return text if times == 0 else as_text(text, times - 1)


def test_a_record_is_read_from_its_place_as_an_object_and_as_text(spark: SparkSession) -> None:
    inner: dict[str, Any] = {"id": 2, "name": 'K\u00f6ln "\U0001f600"\n'}
    values = [
        b'{"type":"x", "payload": {"id":1,"name":"a"} , "n":[1,{"payload":3}]}',
        json.dumps({"payload": json.dumps(inner)}).encode(),
        f'{{"größe":"é","payload":{as_text(inner)},"z":1}}'.encode(),
        f'{{"payload":{as_text(inner, times=3)}}}'.encode(),
        as_text({"payload": {"id": 3}}).encode(),
        b'{"payload":{"id":1},"payload":{"id":4}}',
        b'{"payload":"{\\"id\\":5}","p":7.25}\n',
        None,
    ]
    assert rows(spark, spec("$.payload"), values) == [
        row(1, "a"),
        *[row(2, inner["name"])] * 3,
        row(3),
        row(4),
        row(5),
        None,
    ]


def test_a_whole_value_may_be_text(spark: SparkSession) -> None:
    values = [b'"{\\"id\\": 1, \\"name\\": \\"a\\"}"', b' "{\\"id\\":2}" ', b'{"id":3}']
    values += [b'"{\\"id\\":4}" x', b'"hello"', b"[]", b'"\xff"', b'"{\\"name\\":\\"\\\\ud800\\"}"']
    assert rows(spark, spec("$"), values) == [
        row(1, "a"),
        row(2),
        row(3),
        f"{NOT_ONE}: expected the end, found a word at byte 13",
        f"{NOT_ONE}: expected {{, found a word at byte 0",
        f"{NOT_ONE}: found a JSON array",
        "not strict UTF-8: byte 0xff at 1; ISO-8859-1 text?",
        "a lone surrogate escape",
    ]


def test_a_path_leads_through_objects_and_texts(spark: SparkSession) -> None:
    sent = {"Type": "Notification", "Message": json.dumps({"detail": {"id": 1}})}
    values = [json.dumps({"Body": json.dumps(sent)}), json.dumps({"Body": sent})]
    values += [json.dumps({"Body": {"Message": {"detail": json.dumps({"id": 2})}}})]
    at = "$.Body['Message'].detail"
    assert rows(spark, spec(at), [each.encode() for each in values]) == [row(1), row(1), row(2)]
    plain = rows(spark, spec("event-data"), [b'{"event-data":{"id":1}}'])
    assert plain == [row(1)]


def test_the_error_names_the_whole_path(spark: SparkSession) -> None:
    values = {
        b'{"payload":{"id":"x"}}': 'payload.id: expected BIGINT, found "x"',
        b'{"payload":"{\\"id\\":\\"x\\"}"}': 'payload.id: expected BIGINT, found "x"',
        b'{"payload":{"ID":1,"b":2}}': (
            "payload: expected one of the declared fields (id, name), found ID, b"
        ),
        b'{"payload":{}}': (
            "payload: expected one of the declared fields (id, name), found an object without"
            " fields"
        ),
        b'{"payload":{"b":1,"c":"{\\"id\\":1}"}}': (
            "payload: expected one of the declared fields (id, name), found b, c; c holds an object"
            " as text: `at` in `format` reads it"
        ),
        b'{"id":1,"Payload":{}}': (
            "expected the field payload, where the record is, found id, Payload"
        ),
        b"{}": "expected the field payload, where the record is, found an object without fields",
        b'{"payload":null}': f"{WITHIN}: found null",
        b'{"payload":{"id":1},"payload":null}': f"{WITHIN}: found null",
        b'{"payload":[{"id":1}]}': f"{WITHIN}: found a JSON array",
        b'{"payload":12}': f"{WITHIN}: found a JSON number",
        b'{"payload":""}': f"{WITHIN}: found no bytes",
        b'{"payload":"{\\"id\\":1"}': f"{WITHIN}: expected , or }}, found the end at byte 7",
        b'{"payload":"H4sI"}': f"{WITHIN}: expected {{, found a word at byte 0",
        b'{"payload":{"id":1}': f"{NOT_ONE}: expected , or }}, found the end at byte 19",
        b'{"payload":{"id":1}} {}': f"{NOT_ONE}: found several JSON objects, the second at byte 21",
        b'{"payload":{"id":01}}': f"{NOT_ONE}: expected , or }}, found a number at byte 18",
        b'[{"payload":{"id":1}}]': f"{NOT_ONE}: found a JSON array",
        b'{"a":"\xff","payload":{"id":1}}': ("not strict UTF-8: byte 0xff at 6; ISO-8859-1 text?"),
        b'{"a":"\\ud800","payload":{"id":1}}': "a lone surrogate escape",
        b'{"payload":"{\\"name\\":\\"\\\\ud800\\"}"}': "payload: a lone surrogate escape",
    }
    assert rows(spark, spec("$.payload"), [*values]) == [*values.values()]
    deep = {
        b'{"a":{"b c":{"id":""}}}': 'a.b c.id: expected BIGINT, found ""',
        b'{"a":{"b":{}}}': "a: expected the field b c, where the record is, found b",
        b'{"a":3}': f"a: {NOT_ONE}: found a JSON number",
    }
    assert rows(spark, spec("$.a['b c']"), [*deep]) == [*deep.values()]


def test_what_holds_for_a_record_holds_for_what_is_at_the_place(spark: SparkSession) -> None:
    more: dict[str, Any] = {
        "rescue": True,
        "required": ["id"],
        "columns": {"amount": {"from": "$.line.amount", "type": "DECIMAL(10,2)"}},
    }
    values = [
        b'{"out":1,"payload":{"id":1,"x":{"y":1.50},"line":{"amount":2.5,"z":1}}}',
        b'{"out":1,"payload":"{\\"id\\":2}"}',
        b'{"payload":{"name":"a"}}',
    ]
    first, second, third = rows(spark, spec("$.payload", **more), values)
    rescued = '{"x":{"y":1.50},"line":{"z":1}}'
    assert first == {**row(1), "amount": Decimal("2.50"), "_rescued": rescued}
    assert second == {**row(2), "amount": None, "_rescued": None}
    assert third == "id: expected a value, as it is required, found none"
    lax = spec("$.payload", allow_unmatched=True)
    empty, absent = rows(spark, lax, [b'{"payload":{}}', b"{}"])
    assert empty == row(None)
    assert absent.startswith("expected the field payload")


def test_a_value_that_is_one_column_is_at_its_place(spark: SparkSession) -> None:
    form = {"type": "json", "at": "$.records", "schema_file": "any.json"}
    files = {"any__json": b'{"type": "array", "items": [{}, {}]}'}
    values = [b'{"records":[1, 2.50]}', b'{"records":"[1]"}', b'{"records":null}', b'{"a":1}']
    values += [b'{"records":"[1"}']
    assert rows(spark, {"format": form}, values, **files) == [
        {"value": "[1,2.50]"},
        {"value": "[1]"},
        {"value": "null"},
        "expected the field records, where the record is, found a",
        "records: not one JSON value",
    ]


ELEMENTS = "value ARRAY<STRUCT<id: BIGINT, at: TIMESTAMP>>"


def test_an_array_is_the_column_value_where_that_is_the_only_one(spark: SparkSession) -> None:
    form = {"type": "json", "schema": ELEMENTS, "timestamp_unit": "s"}
    values = {
        b' [{"id":1,"x":2},{"id":2,"y":[]}] ': [(1, None), (2, None)],
        b"[]": [],
        b'{"value":[{"id":3}]}': [(3, None)],
        b"[null]": [None],
        b'[{"id":1},{"id":"x"}]': 'value[1].id: expected BIGINT, found "x"',
        b"[1]": "value[0]: expected STRUCT, found 1",
        b"[1": f"{NOT_ONE}: expected , or ], found the end at byte 2",
        b"[] []": f"{NOT_ONE}: expected the end, found [ at byte 3",
        b'"[]"': f"{NOT_ONE}: found a JSON string",
    }
    found = rows(spark, {"format": form, "rescue": True}, [*values])
    seen = [
        each
        if isinstance(each, str)
        else [part and (part["id"], part["at"]) for part in each["value"]]
        for each in found
    ]
    assert seen == [*values.values()]
    assert found[0]["_rescued"] == '{"value":[{"x":2},{"y":[]}]}'
    within = rows(spark, spec("$.records", ELEMENTS), [b'{"records":[{"id":1}]}', b'{"records":7}'])
    assert within[0]["value"] == [{"id": 1, "at": None}]
    assert within[1] == f"records: {NOT_ONE}: found a JSON number"


def test_an_array_is_no_record_of_other_columns(spark: SparkSession) -> None:
    for schema in ("id ARRAY<INT>", "value ARRAY<INT>, id INT", "value STRING"):
        form = {"type": "json", "schema": schema}
        assert rows(spark, {"format": form}, [b"[1]"]) == [f"{NOT_ONE}: found a JSON array"]
