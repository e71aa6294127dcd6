"""A format says which columns a record's value becomes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from sluice.columns.columns import parse_columns
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import AvroFormat, Format, JsonFormat, ProtobufFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.plain_formats import RawFormat

formats: TypeAdapter[JsonFormat | RawFormat | AvroFormat | ProtobufFormat] = TypeAdapter(Format)


def test_raw_is_one_binary_column() -> None:
    found = formats.validate_python({"type": "raw"})
    assert isinstance(found, RawFormat)
    assert found.columns == parse_columns("value BINARY")


def test_json_has_the_declared_columns() -> None:
    found = formats.validate_python({"type": "json", "schema": "a INT, b ARRAY<DATE>"})
    assert isinstance(found, JsonFormat)
    assert found.columns == parse_columns("a INT, b ARRAY<DATE>")
    assert found.timestamp_unit is None


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_numbers_are_timestamps_only_where_the_unit_is_named(unit: str) -> None:
    keys = {"type": "json", "schema": "t TIMESTAMP", "timestamp_unit": unit}
    found = formats.validate_python(keys)
    assert isinstance(found, JsonFormat)
    assert found.timestamp_unit == unit


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "type"),
        ({"type": "JSON", "schema": "a INT"}, "JSON"),
        ({"type": "json"}, "schema"),
        ({"type": "json", "schema": ""}, "expected a column name"),
        ({"type": "json", "schema": "a INT, _key INT"}, "_key: Sluice has its own column"),
        ({"type": "json", "schema": "`_Batch` INT"}, "_Batch: Sluice has its own"),
        ({"type": "raw", "timestamp_unit": "s"}, "timestamp_unit"),
        ({"type": "json", "schema": "a INT", "timestamp_unit": "m"}, "timestamp_unit"),
    ],
    ids=str,
)
def test_what_is_no_format_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        formats.validate_python(keys)


def test_a_nested_field_may_begin_with_an_underscore() -> None:
    keys = {"type": "json", "schema": "a STRUCT<_b: INT>"}
    assert formats.validate_python(keys).columns == parse_columns("a STRUCT<_b: INT>")


def test_a_format_with_a_registry_awaits_its_reader() -> None:
    found = formats.validate_python({"type": "avro", "registry": "schema_registry_default"})
    assert isinstance(found, AvroFormat)
    assert found.awaits_reader
    assert found.subject("orders", "value") == "orders-value"
    with pytest.raises(LookupError, match="schema_registry_default"):
        _ = found.columns


def test_a_record_that_nothing_asks_for_is_refused() -> None:
    keys = {"type": "avro", "registry": "r", "record": "com.example.Order"}
    with pytest.raises(ValueError, match="record goes with subject_strategy: record, or topic_"):
        formats.validate_python(keys)


def test_the_subject_follows_the_strategy() -> None:
    keys = {"type": "avro", "registry": "r", "record": "com.example.Order"}
    found = [
        formats.validate_python({**keys, "subject_strategy": each})
        for each in ("record", "topic_record")
    ]
    assert [each.subject("orders", "key") for each in found if isinstance(each, AvroFormat)] == [
        "com.example.Order",
        "orders-com.example.Order",
    ]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("avro", b'{"type": "recrd"}'),
        ("avro", b'{"type": "record"'),
        ("json", b'{"type": "record"}'),
    ],
)
def test_a_mistake_in_a_schema_file_names_the_file(kind: str, content: bytes) -> None:
    keys = {"type": kind, "schema_file": "orders.schema"}
    with pytest.raises(ValidationError, match=r"schema_file orders\.schema: "):
        formats.validate_python(keys, context={"files": {"orders.schema": content}})


@pytest.mark.parametrize(
    ("content", "has_fields"),
    [(b'{"properties": {"value": {"type": "string"}}}', True), (b'{"type": "string"}', False)],
)
def test_a_field_named_value_is_told_from_a_record_that_is_kept_whole(
    content: bytes, has_fields: bool
) -> None:
    keys = {"type": "json", "schema_file": "orders.json"}
    found = formats.validate_python(keys, context={"files": {"orders.json": content}})
    assert isinstance(found, JsonFormat)
    assert found.columns == parse_columns("value STRING")
    assert found.has_fields == has_fields


def test_naming_a_file_that_is_found_anyway_decides_no_rows() -> None:
    files = {"event.json": b'{"properties":{"a":{"$ref":"a.json"}}}', "a.json": b"{}"}
    base = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}
    form = {"type": "json", "schema_file": "event.json"}
    alone, named, other = (
        PipelineSpec.model_validate({**base, "format": form | more}, context={"files": found})
        for more, found in (
            ({}, files),
            ({"schema_files": ["a.json"]}, files),
            ({"schema_files": ["a.json"]}, files | {"a.json": b'{"type": "integer"}'}),
        )
    )
    assert alone.edition == named.edition
    assert named.edition != other.edition


def test_declared_columns_are_fields_whatever_the_registry_has() -> None:
    keys = {"type": "json", "registry": "r", "schema": "value STRING"}
    whole = RegisteredSchema("7", "JSON", '{"type": "array"}')
    declared = JsonFormat.model_validate(keys)
    assert declared.has_fields
    assert declared.read_as(whole).has_fields
    assert not JsonFormat(type="json", registry="r").read_as(whole).has_fields


@pytest.mark.parametrize(
    ("schema", "envelope", "has_fields"),
    [
        ("value VARIANT", None, False),
        # Its converter may have wrapped it.
        ("value VARIANT", "connect", True),
        ("Value VARIANT", None, True),
        ("value VARIANT, id INT", None, True),
        ("value ARRAY<VARIANT>", None, True),
    ],
)
def test_a_variant_alone_is_the_record(schema: str, envelope: str | None, has_fields: bool) -> None:
    keys = {"type": "json", "schema": schema, "envelope": envelope}
    assert JsonFormat.model_validate(keys).has_fields == has_fields
