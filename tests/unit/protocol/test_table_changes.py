"""What the next batch would do to the columns of the table."""

from __future__ import annotations

from typing import Any

from sluice.protocol.plan.table_changes import changes_of_table
from sluice.spec.columns import parse_columns
from sluice.spec.derived import OURS
from sluice.spec.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys


def changes(stored: str, declared: str, **keys: Any) -> list[str]:
    form = {"type": "json", "schema": declared}
    spec = PipelineSpec.model_validate(spec_keys(format=form, **keys))
    return list(changes_of_table(spec, (*parse_columns(stored), *OURS)))


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
        "the table gets Delta's feature typeWidening: delta-rs and Polars read it no more"
    ]
    spec = PipelineSpec.model_validate(spec_keys(evolution="widen"))
    assert list(changes_of_table(spec, (*spec.columns, *OURS), widens_types=True)) == []


def test_where_there_is_no_table_nothing_changes() -> None:
    spec = PipelineSpec.model_validate(spec_keys())
    assert list(changes_of_table(spec, ())) == []
