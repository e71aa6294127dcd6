"""Partition columns: their values are in the log, and need not be in the files."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.tables.data_files import files_named, files_of, read_chunks, read_files
from sluice.tables.logged_files import logged_file
from sluice.tables.removed_files import RemovedFile, removed_files
from sluice.tables.rows import removed_rows, rows_where

MOMENT = datetime(2020, 1, 1, 1, 2, 3, 456789, UTC)
KINDS = {
    "number": (pa.int32(), [0, 1, None]),
    "text": (pa.string(), ["a b/c=d%20+ü", "x:y", None]),
    "day": (pa.date32(), [date(1900, 1, 1), date(2020, 1, 1), None]),
    "at": (pa.timestamp("us", "UTC"), [MOMENT, MOMENT.replace(year=1, microsecond=0), None]),
    "here": (pa.timestamp("us"), [MOMENT.replace(tzinfo=None), datetime(9999, 12, 31), None]),
    "amount": (pa.decimal128(10, 2), [Decimal("2.50"), Decimal("0.00"), None]),
    "share": (pa.float64(), [1.5, float("inf"), None]),
    "flag": (pa.bool_(), [True, False, None]),
}


def partitioned(place: Path, *columns: str) -> DeltaTable:
    """Three rows, each in a partition of its own."""
    rows = {name: pa.array(values, kind) for name, (kind, values) in KINDS.items()}
    rows["_offset"] = pa.array([0, 1, 2], pa.int64())
    write_deltalake(place, pa.table(rows), partition_by=list(columns))
    return DeltaTable(place)


def by_offset(rows: pa.Table, column: str) -> list[object]:
    return [each[column] for each in sorted(rows.to_pylist(), key=lambda row: row["_offset"])]


@pytest.mark.parametrize("column", KINDS)
def test_a_partition_column_has_its_value_of_every_type(tmp_path: Path, column: str) -> None:
    table = partitioned(tmp_path / "t", column)
    expected = KINDS[column][1]
    found = rows_where(table, ["_offset", column])
    assert (found.schema.field(column).type, by_offset(found, column)) == (
        KINDS[column][0],
        expected,
    )
    log = (tmp_path / "t" / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
    named = [logged_file(json.loads(each)["add"]) for each in log if each.startswith('{"add"')]
    as_logged = read_files(table, files_named(table, named), ["_offset", column])
    assert by_offset(as_logged, column) == expected


def test_several_at_once_also_where_only_some_are_asked_for(tmp_path: Path) -> None:
    table = partitioned(tmp_path / "t", "text", "number", "day")
    found = read_files(table, files_of(table), ["day", "amount", "_offset", "number"])
    assert found.column_names == ["day", "amount", "_offset", "number"]
    assert by_offset(found, "number") == [0, 1, None]
    assert by_offset(found, "day") == KINDS["day"][1]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("number", "=", 1), [1]),
        (("number", "in", [0, 7]), [0]),
        (("number", ">=", 0), [0, 1]),
        (("_offset", ">", 0), [1, 2]),
    ],
)
def test_a_condition_on_it_finds_its_rows(
    tmp_path: Path, wanted: tuple[str, str, object], expected: list[int]
) -> None:
    table = partitioned(tmp_path / "t", "number")
    chunks = pa.Table.from_batches(read_chunks(table, ["_offset"], [wanted]))
    assert sorted(chunks["_offset"].to_pylist()) == expected
    assert sorted(rows_where(table, ["_offset"], [wanted])["_offset"].to_pylist()) == expected


def test_what_a_commit_removed_is_known_with_its_partition(tmp_path: Path) -> None:
    partitioned(tmp_path / "t", "number").delete("number = 1")
    table = DeltaTable(tmp_path / "t")
    found = removed_rows(table, 1, ["number", "_offset"], ["number", "_offset"])
    assert found is not None
    assert found.to_pylist() == [{"number": 1, "_offset": 1}]


def test_the_partition_rules_out_files_of_others(tmp_path: Path) -> None:
    rows = {"_partition": pa.array([0, 1], pa.int32()), "_offset": pa.array([5, 6], pa.int64())}
    write_deltalake(tmp_path / "t", pa.table(rows), partition_by=["_partition"])
    DeltaTable(tmp_path / "t").delete("_partition = 1")
    assert removed_files(str(tmp_path / "t"), 1) == [RemovedFile(None, (1, 1), (6, 6))]


def test_a_commit_that_removes_without_the_partition_is_compared_by_its_versions(
    tmp_path: Path,
) -> None:
    partitioned(tmp_path / "t", "number").delete("number = 1")
    commit = tmp_path / "t" / "_delta_log" / f"{1:020d}.json"
    lines = [json.loads(each) for each in commit.read_text().splitlines()]
    for each in lines:
        each.get("remove", {}).pop("partitionValues", None)
    commit.write_text("\n".join(map(json.dumps, lines)))
    found = removed_rows(DeltaTable(tmp_path / "t"), 1, ["number", "_offset"], ["_offset"])
    assert found is not None
    assert found.to_pylist() == [{"number": 1, "_offset": 1}]
