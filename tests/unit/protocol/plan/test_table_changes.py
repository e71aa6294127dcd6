"""What the next batch would do to the columns of the table."""

from __future__ import annotations

from typing import Any

from sluice.columns.columns import parse_columns
from sluice.derived.derived_columns import OURS
from sluice.protocol.plan.table_changes import changed_reading, changes_of_table
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_settings import TableSettings

from tests.unit.builders import spec_keys

NONE = TableSettings({}, {})


def changes(stored: str, declared: str, **keys: Any) -> list[str]:
    form = {"type": "json", "schema": declared}
    spec = PipelineSpec.model_validate(spec_keys(format=form, **keys))
    return list(changes_of_table(spec, (*parse_columns(stored), *OURS), NONE))


def test_a_table_that_is_as_the_spec_says_does_not_change() -> None:
    assert changes("id BIGINT, part STRUCT<x: INT>", "id BIGINT, part STRUCT<x: INT>") == []


def test_fields_that_come_widen_and_go_at_any_depth() -> None:
    told = changes(
        "id INT, part STRUCT<x: INT, z: INT>, gone STRING",
        "id BIGINT, part STRUCT<x: INT, y: ARRAY<DATE>>, day DATE",
    )
    assert told == [
        "the table gets a column part.y ARRAY<DATE>; null in the rows that it has",
        "the table gets a column day DATE; null in the rows that it has",
        "the table's column id becomes BIGINT, from INT",
        "the table's column part.z INT gets no values any more; it stays, null in new rows",
        "the table's column gone STRING gets no values any more; it stays, null in new rows",
    ]


def test_fields_that_are_left_out_and_derived_columns_count() -> None:
    told = changes("a INT, b INT", "a INT, b INT", exclude=["b"], derived={"c": "upper(_topic)"})
    assert told == [
        "the table gets a column c STRING; null in the rows that it has",
        "the table's column b INT gets no values any more; it stays, null in new rows",
    ]


def test_a_table_that_is_to_widen_types_becomes_unreadable_for_some() -> None:
    lines = changes("id INT", "id INT", evolution="widen")
    assert lines == [
        "the table gets Delta's feature typeWidening: delta-rs and Polars can no longer read it"
    ]
    spec = PipelineSpec.model_validate(spec_keys(evolution="widen"))
    widening = TableSettings({"delta.enableTypeWidening": "true"}, {})
    assert list(changes_of_table(spec, (*spec.columns, *OURS), widening)) == []


def test_properties_and_comments_that_a_table_gets_are_told() -> None:
    spec = PipelineSpec.model_validate(
        spec_keys(
            properties={"delta.checkpointInterval": 20, "delta.enableChangeDataFeed": True},
            comments={"id": "the order's number", "name": "as it was"},
            format={"type": "json", "schema": "id INT, name STRING"},
        )
    )
    settings = TableSettings(
        {"delta.checkpointInterval": "10", "delta.minReaderVersion": "1"},
        {"id": "", "name": "as it was"},
    )
    assert list(changes_of_table(spec, (*spec.columns, *OURS), settings)) == [
        "the table's property delta.checkpointInterval becomes 20, from 10",
        "the table's property delta.enableChangeDataFeed becomes true",
        "the comment of the table's column id becomes \"the order's number\"",
    ]


def test_keys_that_read_new_rows_otherwise_are_told_with_the_batch() -> None:
    def spec(**keys: Any) -> PipelineSpec:
        return PipelineSpec.model_validate(spec_keys(**keys))

    before = spec(derived={"day": "CAST(_timestamp AS DATE)"}, max_records_per_batch=5)
    now = spec(derived={"day": "DATE '2026-01-01'"}, max_records_per_batch=6)
    assert list(changed_reading(now, ("forward-1-7", before.edition))) == [
        "the spec has changed since batch forward-1-7, in derived.day: the rows that are there"
        " stay as they are, unless they are read again (sluice reprocess)"
    ]
    assert list(changed_reading(before, ("forward-1-7", before.edition))) == []
    assert list(changed_reading(now, None)) == []


def test_a_raised_budget_reads_no_row_otherwise() -> None:
    before = PipelineSpec.model_validate(spec_keys())
    for budget in ({"max_ratio": 0.5}, {"max_records": 50}):
        now = PipelineSpec.model_validate(spec_keys(quarantine=budget))
        assert list(changed_reading(now, ("forward-1-7", before.edition))) == []


def test_a_newer_schema_of_the_registry_is_no_change_of_the_spec() -> None:
    def spec(number: int, **more: Any) -> PipelineSpec:
        form = {"type": "avro", "registry": "schema_registry_default", **more}
        found = PipelineSpec.model_validate(spec_keys(format=form))
        text = '{"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}'
        return found.with_readers({"value": RegisteredSchema(str(number), "AVRO", text)})

    before = ("forward-1-7", spec(7).edition)
    assert list(changed_reading(spec(9), before)) == [
        "format: the schema is another one than that of batch forward-1-7: the rows that are there"
        " stay as they are, unless they are read again (sluice reprocess)"
    ]
    (told,) = changed_reading(spec(9, compression="gzip"), before)
    assert told.startswith("the spec has changed since batch forward-1-7, in format.compression: ")


def test_where_there_is_no_table_nothing_changes() -> None:
    spec = PipelineSpec.model_validate(spec_keys())
    assert list(changes_of_table(spec, (), NONE)) == []
