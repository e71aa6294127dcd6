"""A commit is based on a version that is in the log, or nothing is written."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Transaction, write_deltalake
from sluice.errors import CommitConflict
from sluice.offsets.batches import BatchSequence
from sluice.tables.empty_commit import commit_transactions
from sluice.tables.fence import Fencing
from sluice.tables.predecessor import require_predecessor

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = pa.table({"id": [1, 2]})


@pytest.fixture
def put_back(tmp_path: Path) -> DeltaTable:
    """A table as it was read at version 2, and where now the copy of version 0 is."""
    uri, copy = tmp_path / "table", tmp_path / "copy"
    write_deltalake(uri, ROWS)
    shutil.copytree(uri, copy)
    for _ in range(2):
        write_deltalake(uri, ROWS, mode="append")
    table = DeltaTable(uri)
    shutil.rmtree(uri)
    copy.rename(uri)
    return table


def folder(table: DeltaTable) -> Path:
    return Path(table.table_uri.removeprefix("file://"))


def log_of(table: DeltaTable) -> list[str]:
    return sorted(each.name for each in (folder(table) / "_delta_log").iterdir())


def test_a_fence_onto_an_older_copy_is_a_conflict(put_back: DeltaTable) -> None:
    before = log_of(put_back)
    with pytest.raises(CommitConflict, match="version 2 is gone from its log"):
        Fencing(put_back).close([BatchSequence("p", "forward", 1)], NOW)
    assert log_of(put_back) == before


def test_an_empty_commit_onto_an_older_copy_is_a_conflict(put_back: DeltaTable) -> None:
    before = log_of(put_back)
    with pytest.raises(CommitConflict, match="version 2 is gone from its log"):
        commit_transactions(put_back, [Transaction("a", 1)], NOW)
    assert log_of(put_back) == before


def test_a_commit_onto_another_table_is_a_conflict(tmp_path: Path) -> None:
    """It has as many versions as the one that was read."""
    tables = []
    for _ in range(2):
        shutil.rmtree(tmp_path / "table", ignore_errors=True)
        write_deltalake(tmp_path / "table", ROWS)
        tables.append(DeltaTable(tmp_path / "table"))
    before, now = tables
    for commit in (
        lambda: Fencing(before).close([BatchSequence("p", "forward", 1)], NOW),
        lambda: commit_transactions(before, [Transaction("a", 1)], NOW),
    ):
        with pytest.raises(CommitConflict, match="another table was put in its place"):
            commit()
    assert log_of(now) == [f"{0:020}.json"]


def test_a_checkpoint_stands_for_a_commit_that_log_cleanup_removed(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "table", ROWS)
    table = DeltaTable(tmp_path / "table")
    table.create_checkpoint()
    (folder(table) / "_delta_log" / f"{0:020}.json").unlink()
    require_predecessor(table)
