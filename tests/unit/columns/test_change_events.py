"""The row that Debezium's envelope is about, by what declares it, and the specs that have it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError
from sluice.columns.change_events import row_of, with_marks
from sluice.columns.columns import Column, Primitive, Struct, parse_columns
from sluice.columns.declared import Declared, Note, possible
from sluice.spec_file.formats import RegisteredFormat
from sluice.spec_file.pipeline_spec import PipelineSpec

BASE = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}
FORM = {"type": "json", "envelope": "debezium", "schema": "id BIGINT, name STRING"}
MARKS = "_op STRING, _source STRING, _source_time TIMESTAMP"


def of(text: str) -> Declared:
    return possible(parse_columns(text))


def test_the_row_is_what_after_holds() -> None:
    event = of(
        "before STRUCT<id: INT>, after STRUCT<id: INT, _op: STRING, _x: INT>,"
        " op STRING, source STRING"
    )
    row = row_of(event, {})
    assert row.columns == parse_columns("id INT, _x INT")
    assert [str(each) for each in row.unread] == ["$._op: Sluice has its own column of this name"]
    assert with_marks(row).columns == parse_columns(
        "id INT, _x INT, _op STRING, _source STRING, _source_time TIMESTAMP"
    )


def test_what_no_column_holds_is_told_as_the_row_sees_it() -> None:
    row = Struct((*parse_columns("id INT"), *parse_columns("ID INT")))
    event = possible(
        (Column("after", row), *parse_columns("before STRING, op STRING, source STRING"))
    )
    notes = (Note(("after", "x"), "the schema holds itself"), Note(("source",), "other"))
    found = row_of(Declared(event.columns, event.unread, notes, event.fields), {})
    assert [str(each) for each in found.as_text] == ["$.x: the schema holds itself"]
    assert [each.place for each in found.unread] == [("ID",)]


def test_text_in_after_is_one_column() -> None:
    event = of("before STRING, after STRING, op STRING, source STRING")
    assert row_of(event, {}).columns == parse_columns("after STRING")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("id INT, name STRING", "the fields id, name"),
        ("a INT, b INT, c INT, d INT, e INT, f INT", "the fields a, b, c, d, e, …"),
        ("after INT", "the fields after"),
        ("op STRING, source STRING, before INT, after INT", "the fields op, source, before, after"),
    ],
)
def test_another_schema_is_refused(text: str, found: str) -> None:
    with pytest.raises(ValueError, match="whose field after has the row's columns, found") as told:
        row_of(of(text), {})
    assert str(told.value).endswith(found)
    with pytest.raises(ValueError, match="found no fields"):
        row_of(Declared(()), {})


def spec(form: dict[str, Any], files: dict[str, bytes] | None = None, **keys: Any) -> PipelineSpec:
    context = {"files": files or {}}
    return PipelineSpec.model_validate({**BASE, "format": form, **keys}, context=context)


def test_the_rows_columns_come_first_and_then_those_of_the_event() -> None:
    found = spec(FORM)
    assert found.columns == parse_columns(f"id BIGINT, name STRING, {MARKS}")


def test_further_keys_take_these_columns() -> None:
    found = spec(
        FORM,
        partition_by=["day", "_op"],
        derived={"day": "CAST(_source_time AS DATE)", "lsn": "get_json_object(_source, '$.lsn')"},
        exclude=["_source"],
        required=["id"],
        key_format={"type": "json", "schema": "id BIGINT"},
        rescue=True,
    )
    assert [each.name for each in found.shape.columns] == [
        *("id", "name", "_op", "_source_time", "day", "lsn")
    ]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            {"format": {**FORM, "schema": "id BIGINT, _op STRING"}},
            "_op: Sluice has its own column of this name. `columns` takes such a field under",
        ),
        ({"columns": {"_op": "name"}}, "columns._op: Sluice has its own column of this name"),
        ({"derived": {"_op": "id"}}, "derived._op: expected another name"),
        (
            {"key_format": {**FORM, "schema": "id BIGINT"}},
            "key_format: found envelope: debezium, which goes with format: only",
        ),
        ({"format": {**FORM, "envelope": "canal"}}, "debezium"),
        ({"format": {"type": "raw", "envelope": "debezium"}}, "envelope"),
        (
            {
                "format": {
                    "type": "avro",
                    "schema_file": "e.avsc",
                    "envelope": "debezium",
                    "frame": "container",
                }
            },
            "found container with envelope; expected another frame, or none",
        ),
    ],
)
def test_what_does_not_go_with_it_is_refused(keys: dict[str, Any], told: str) -> None:
    given = {**keys}
    with pytest.raises(ValidationError) as problem:
        spec(given.pop("format", FORM), **given)
    assert told in str(problem.value)


def test_without_it_the_names_are_columns_like_any() -> None:
    assert spec({**FORM, "envelope": None, "schema": MARKS}).columns == parse_columns(MARKS)


def test_columns_take_from_the_row() -> None:
    taken = {"their_op": {"from": "_op", "type": "STRING"}, "at": {"from": "at", "unit": "us"}}
    found = spec(FORM, columns=taken)
    assert found.columns == parse_columns(
        f"id BIGINT, name STRING, their_op STRING, at TIMESTAMP, {MARKS}"
    )


def event_schema(row: Any) -> bytes:
    parts = {"before": "null", "after": ["null", row], "op": "string", "source": "string"}
    fields = [{"name": name, "type": each} for name, each in parts.items()]
    return json.dumps({"type": "record", "name": "Envelope", "fields": fields}).encode()


def test_a_schema_of_the_event_gives_the_row_by_its_field_after() -> None:
    row = {"type": "record", "name": "Value", "fields": [{"name": "id", "type": "long"}]}
    form = {"type": "avro", "envelope": "debezium", "schema_file": "e.avsc"}
    assert spec(form, {"e.avsc": event_schema(row)}).columns == parse_columns(f"id BIGINT, {MARKS}")
    with pytest.raises(ValidationError, match="expected the schema of a change event"):
        spec(form, {"e.avsc": json.dumps(row).encode()})


def test_the_types_of_fields_that_columns_take_are_the_rows() -> None:
    row = {"type": "record", "name": "Value", "fields": [{"name": "at", "type": "long"}]}
    form = {"type": "avro", "envelope": "debezium", "schema_file": "e.avsc"}
    taken = {"moment": {"from": "at", "unit": "ms"}}
    found = spec(form, {"e.avsc": event_schema(row)}, columns=taken).formats.value
    assert isinstance(found, RegisteredFormat)
    assert [*found.taken_types.values()] == [Primitive("BIGINT")]


def test_only_goes_by_what_was_done_to_the_row() -> None:
    found = spec({**FORM, "compression": "gzip"}, only={"where": "_op <> 'd'"})
    assert found.only is not None
    assert "`_op`" in found.only.condition(found.readable)
    with pytest.raises(ValidationError, match=r"only\.where: found column _op"):
        spec({**FORM, "envelope": None}, only={"where": "_op <> 'd'"})


@pytest.mark.parametrize("keys", [{"compression": "zstd"}, {"frame": "confluent"}])
def test_what_is_around_an_event_changes_no_column(keys: dict[str, Any]) -> None:
    assert spec({**FORM, **keys}).columns == spec(FORM).columns


def test_a_name_of_the_events_is_refused_while_the_registry_is_not_asked() -> None:
    form = {"type": "json", "registry": "r", "envelope": "debezium"}
    with pytest.raises(ValidationError, match=r"columns\._op: Sluice has its own column"):
        spec(form, columns={"_op": {"from": "a", "type": "STRING"}})


def test_only_with_it_a_spec_has_another_edition() -> None:
    plain = {key: each for key, each in FORM.items() if key != "envelope"}
    assert spec(plain).edition == spec({**FORM, "envelope": None}).edition != spec(FORM).edition
