"""Files of the offsets table: the rows that delta-rs' own dataset finds, with less looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, TableFeatures, write_deltalake
from sluice.errors import CommitUnknown
from sluice.tables.data_files import Condition
from sluice.tables.offsets_files import OffsetsFiles, RowsByPath
from sluice.tables.offsets_schema import SCHEMA

QUESTIONS: list[list[Condition]] = [
    [("event", "=", "planned")],
    [("event", "in", ["planned", "committed"]), ("lane", "=", "forward")],
    [("event", "in", ["loss", "never"])],
    [("event", "=", "planned"), ("batch_id", ">=", 3), ("batch_id", "<=", 4)],
    [("event", "=", "committed"), ("generation", "=", 2), ("batch_id", ">=", 1)],
    [("start_offset", "<=", 20), ("end_offset", ">=", 21)],
    [("format_version", ">", 2)],
    [("batch_id", ">", 1400)],
    [("spec", "=", "none has one")],
]


def row(event: str, generation: int, batch: int | None, **more: Any) -> dict[str, Any]:
    found = {each.name: None for each in SCHEMA}
    named = {"format_version": 2, "pipeline": "trips", "lane": "forward", "event": event}
    numbers = {"generation": generation, "batch_id": batch}
    at = {"recorded_at": datetime(2026, 11, 26, tzinfo=UTC)}
    return {**found, **named, **numbers, **at, **more}


def append(path: Path, *rows: dict[str, Any]) -> DeltaTable:
    """One commit: a file for each event."""
    added = pa.Table.from_pylist(list(rows), schema=SCHEMA)
    write_deltalake(path, added, mode="append", partition_by=["event"])
    return DeltaTable(path)


@pytest.fixture
def table(tmp_path: Path) -> DeltaTable:
    for number in range(1, 5):
        begin, end = 10 * number, 10 * number + 10
        bounds = {"start_offset": begin, "end_offset": end}
        append(
            tmp_path,
            row("planned", 1 + number // 3, number, **bounds),
            row("committed", 1 + number // 3, number, lane="backfill"),
        )
    append(tmp_path, row("loss", 1, None), row("loss", 3, None, format_version=3))
    # More than is kept in memory.
    return append(tmp_path, *(row("planned", 9, number) for number in range(1500)))


@pytest.mark.parametrize("wanted", QUESTIONS, ids=str)
def test_it_finds_what_delta_rs_finds(table: DeltaTable, wanted: list[Condition]) -> None:
    files = OffsetsFiles("trips", table, {})
    expected = table.to_pyarrow_dataset().to_table(filter=pq.filters_to_expression(wanted))
    assert in_order(files.rows(wanted)) == in_order(expected.to_pylist())
    assert in_order(files.rows(wanted)) == in_order(expected.to_pylist()), "as well from memory"
    chunks = files.chunks(["lane", "batch_id"], wanted, as_codes=["lane"])
    found = [each for chunk in chunks for each in chunk.to_pylist()]
    assert in_order(found) == in_order(expected.select(["lane", "batch_id"]).to_pylist())


def test_small_files_are_read_once_and_forgotten_when_they_go(table: DeltaTable) -> None:
    known: RowsByPath = {}
    everything: list[Condition] = [("event", "in", ["planned", "committed", "loss"])]
    OffsetsFiles("trips", table, known).rows(everything)
    assert len(known) == 4 + 4 + 1
    (first, *_) = known
    known[first][0]["reason"] = "read before"
    again = OffsetsFiles("trips", table, known).rows(everything)
    assert [each["reason"] for each in again if each["reason"]] == ["read before"]
    table.optimize.compact(partition_filters=[("event", "=", "committed")])
    OffsetsFiles("trips", table, known)
    assert len(known) == 4 + 1


def test_statistics_leave_out_the_files_of_other_lanes_and_batches(table: DeltaTable) -> None:
    known: RowsByPath = {}
    files = OffsetsFiles("trips", table, known)
    files.rows([("lane", "=", "backfill")])
    assert len(known) == 4
    files.rows([("event", "=", "planned"), ("batch_id", "<=", 1), ("generation", "=", 1)])
    assert len(known) == 5


def test_a_copy_without_partitions_is_read_as_well(tmp_path: Path, table: DeltaTable) -> None:
    rows = table.to_pyarrow_table()
    write_deltalake(tmp_path / "copy", rows)
    files = OffsetsFiles("trips", DeltaTable(tmp_path / "copy"), {})
    for wanted in QUESTIONS:
        expected = rows.filter(pq.filters_to_expression(wanted)).to_pylist()
        assert in_order(files.rows(wanted)) == in_order(expected)


def test_a_file_that_is_not_asked_for_need_not_be_there(table: DeltaTable) -> None:
    (gone,) = table.file_uris(
        file_pruning_predicate=[("batch_id", "=", 2), ("event", "=", "planned")]
    )[:1]
    Path(gone).unlink()
    files = OffsetsFiles("trips", table, {})
    assert len(
        files.rows([("event", "=", "planned"), ("batch_id", "=", 1), ("generation", "=", 1)])
    )


def test_a_feature_that_delta_rs_does_not_read_is_refused(table: DeltaTable) -> None:
    table.alter.add_feature(TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
    with pytest.raises(CommitUnknown, match="deletionVectors"):
        OffsetsFiles("trips", DeltaTable(table.table_uri), {})


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(str, rows))
