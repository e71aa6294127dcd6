"""A table is read anew exactly when its log is no longer as it was, whoever changed it, and how."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.tables.delta_log import DeltaLog

ROW = pa.table({"value": [1]})


def commit(table: Path) -> None:
    write_deltalake(table, ROW, mode="append")


def drop(table: Path) -> None:
    shutil.rmtree(table)


def create_anew(table: Path) -> None:
    """Another table with as many commits."""
    shutil.rmtree(table)
    commit(table)
    commit(table)


def put_back(table: Path) -> None:
    """An older copy: the newest commit is gone."""
    (table / "_delta_log" / f"{1:020d}.json").unlink()


def overwrite(table: Path) -> None:
    """Another commit of the same version, as a store without put-if-absent allows."""
    newest = table / "_delta_log" / f"{1:020d}.json"
    newest.write_text(newest.read_text(encoding="utf-8") + "\n", encoding="utf-8")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    commit(tmp_path / "t")
    commit(tmp_path / "t")
    return tmp_path / "t"


def test_a_log_that_nobody_changed_is_not_read_again(table: Path) -> None:
    log = DeltaLog(str(table))
    assert log.snapshot() is log.snapshot()
    DeltaTable(table).create_checkpoint()
    assert log.snapshot() is log.snapshot()


@pytest.mark.parametrize(
    ("change", "version"),
    [(commit, 2), (drop, None), (create_anew, 1), (put_back, 0), (overwrite, 1)],
)
def test_a_changed_log_is_read_again_and_the_old_snapshot_stays_as_it_was(
    table: Path, change: Callable[[Path], None], version: int | None
) -> None:
    log = DeltaLog(str(table))
    before = log.snapshot()
    change(table)
    assert log.snapshot() is not before
    assert log.snapshot().version == version
    assert before.version == 1


def test_another_table_in_its_place_has_another_id(table: Path) -> None:
    log = DeltaLog(str(table))
    before = log.snapshot().table_id
    create_anew(table)
    assert log.snapshot().table_id != before


def test_a_table_that_comes_later_is_found(tmp_path: Path) -> None:
    log = DeltaLog(str(tmp_path / "t"))
    assert not log.exists()
    commit(tmp_path / "t")
    assert log.exists()
