"""Which columns have statistics: those that analysts most likely ask by, and few of them."""

from __future__ import annotations

from sluice.columns.columns import parse_columns
from sluice.spec_file.statistics_columns import statistics_columns
from sluice.spec_file.table_shape import TableShape

OURS = ["_topic_id", "_partition", "_offset", "_timestamp", "_batch"]
WIDE = parse_columns(", ".join(f"c{n} BIGINT" for n in range(198)) + ", at TIMESTAMP, day DATE")


def test_a_wide_table_has_few_and_the_likely_ones_first() -> None:
    derived = {"hour": "date_trunc('HOUR', at)", "tags": "filter(_headers, h -> TRUE)"}
    found = statistics_columns(TableShape(WIDE, derived=derived))
    assert found == [*OURS, "hour", "at", "day", *(f"c{n}" for n in range(13))]


def test_what_a_table_is_clustered_by_has_some_wherever_it_stands() -> None:
    found = statistics_columns(TableShape(WIDE, cluster_by=["c190", "_offset"]))
    assert found == [*OURS, "c190", "at", "day", *(f"c{n}" for n in range(12))]


def test_partition_columns_have_none_ours_among_them() -> None:
    fields = parse_columns("a INT, b STRING, c BINARY, d ARRAY<INT>")
    found = statistics_columns(TableShape(fields, partition_by=["_partition", "a"]))
    assert found == ["_topic_id", "_offset", "_timestamp", "_batch", "b"]
