"""Every transaction id of a table is found, wherever its log keeps it, with its newest version."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import SettingsError
from sluice.tables.commits import transaction_versions


def commit(table: Path, **versions: int) -> None:
    transactions = [Transaction(name, version) for name, version in versions.items()]
    rows = pa.table({"id": list(versions.values())})
    written = CommitProperties(app_transactions=transactions)
    write_deltalake(table, rows, mode="append", commit_properties=written)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of three commits with transactions."""
    commit(tmp_path, a=1, b=7)
    commit(tmp_path, a=4)
    commit(tmp_path, c=2)
    return tmp_path


def cut_up(checkpoint: Path, parts: int) -> None:
    """The checkpoint as some writers make it: in several files, each with some of the actions."""
    whole = pq.read_table(checkpoint)
    for part in range(parts):
        name = checkpoint.name.replace(".parquet", f".{part + 1:010d}.{parts:010d}.parquet")
        rows = whole.filter([row % parts == part for row in range(len(whole))])
        pq.write_table(rows, checkpoint.with_name(name))
    checkpoint.unlink()
    checkpoint.with_name("_last_checkpoint").unlink()


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_ids_are_read_from_the_checkpoint_and_the_commits_behind_it(
    table: Path, parts: int
) -> None:
    if parts:
        DeltaTable(table).create_checkpoint()
        (table / "_delta_log" / f"{0:020d}.json").unlink()
    if parts > 1:
        cut_up(table / "_delta_log" / f"{2:020d}.checkpoint.parquet", parts)
    commit(table, d=9, c=3)
    assert transaction_versions(str(table)) == {"a": 4, "b": 7, "c": 3, "d": 9}


def test_a_checkpoint_with_a_part_missing_is_none(table: Path) -> None:
    DeltaTable(table).create_checkpoint()
    checkpoint = table / "_delta_log" / f"{2:020d}.checkpoint.parquet"
    cut_up(checkpoint, 3)
    checkpoint.with_name(
        checkpoint.name.replace(".parquet", f".{1:010d}.{3:010d}.parquet")
    ).unlink()
    assert transaction_versions(str(table)) == {"a": 4, "b": 7, "c": 2}
    (table / "_delta_log" / f"{0:020d}.json").rename(table / "kept")
    with pytest.raises(SettingsError, match=r"found a log with holes|its log cannot be read"):
        transaction_versions(str(table))


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(SettingsError, match="expected a Delta table, found none"):
            transaction_versions(str(place))


def test_a_table_that_forgets_transactions_is_refused(table: Path) -> None:
    forgets = {"delta.setTransactionRetentionDuration": "interval 1 days"}
    DeltaTable(table).alter.set_table_properties(forgets)
    with pytest.raises(SettingsError, match=r"expected no property delta.setTransactionRetention"):
        transaction_versions(str(table))


def test_a_restored_table_is_refused_for_its_transactions_are_not_restored(table: Path) -> None:
    DeltaTable(table).restore(1)
    with pytest.raises(SettingsError, match=r"version 3 is a RESTORE, which keeps"):
        transaction_versions(str(table))
