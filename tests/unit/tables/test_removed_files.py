"""Removed files are known by their statistics, also when they are gone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.offsets.ranges import OffsetRange
from sluice.tables.removed_files import RemovedFile, removed_files
from sluice.tables.rows import removed_rows

from tests.unit.builders import offsets


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two files: offsets 0 to 9 and 10 to 19; then one row of the first is deleted."""
    made = tmp_path / "t"
    for first in (0, 10):
        rows = {
            "_topic_id": pa.array(["abc"] * 10),
            "_partition": pa.array([2] * 10, pa.int32()),
            "_offset": pa.array(range(first, first + 10), pa.int64()),
        }
        write_deltalake(made, pa.table(rows), mode="append")
    DeltaTable(made).delete("_offset = 3")
    return made


def test_a_deletion_names_the_files_it_touched(table: Path) -> None:
    assert removed_files(str(table), 1) == []
    assert removed_files(str(table), 2) == [RemovedFile(("abc", "abc"), (2, 2), (0, 9))]


def test_they_are_known_after_a_vacuum(table: Path) -> None:
    before = removed_files(str(table), 2)
    DeltaTable(table).vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    assert removed_files(str(table), 2) == before


def test_without_the_log_before_it_they_may_have_held_anything(table: Path) -> None:
    DeltaTable(table).create_checkpoint()
    for version in (0, 1):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    assert removed_files(str(table), 2) == [RemovedFile()]


def test_what_a_commit_removed_is_read_without_opening_another_version(table: Path) -> None:
    opened = DeltaTable(table)
    for version in (0, 1):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    columns, keys = ["_topic_id", "_partition", "_offset"], ["_partition", "_offset"]
    found = removed_rows(opened, 2, columns, keys)
    assert found is not None
    assert found["_offset"].to_pylist() == [3]
    assert removed_rows(opened, 1, columns, keys) is None, "its commit is gone"


def test_of_a_commit_that_only_adds_no_file_is_read(table: Path) -> None:
    opened = DeltaTable(table)
    for each in table.glob("*.parquet"):
        each.unlink()
    found = removed_rows(opened, 1, ["_partition", "_offset"], ["_partition", "_offset"])
    assert found is not None
    assert found.num_rows == 0
    assert removed_rows(opened, 2, ["_offset"], ["_offset"]) is None, "its files are gone"


@pytest.mark.parametrize(
    ("asked", "topic_id", "may"),
    [
        (offsets(5, 6, 2), "abc", True),
        (offsets(19, 30, 2), "abc", True),
        (offsets(20, 30, 2), "abc", False),
        (offsets(0, 5, 2), "abc", False),
        (offsets(5, 6, 1), "abc", False),
        (offsets(5, 6, 2), "abd", False),
    ],
)
def test_statistics_rule_out_what_cannot_have_been_there(
    asked: OffsetRange, topic_id: str, may: bool
) -> None:
    assert RemovedFile(("abc", "abc"), (2, 2), (5, 19)).may_hold(topic_id, asked) is may
    assert RemovedFile().may_hold(topic_id, asked)
