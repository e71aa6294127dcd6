"""A snapshot of a table's log is one version, also for the commits that it finds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.offsets.batches import Batch
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.delta_log import DeltaLog
from sluice.tables.quarantine_table import QuarantineTable

from tests.unit.builders import batch, offsets

NOTHING = pa.table({"value": pa.array([], pa.int64())})


def land(table: Path, landed: Batch) -> None:
    write_deltalake(
        table,
        pa.table({"value": pa.array(range(landed.span), pa.int64())}),
        mode="append",
        commit_properties=CommitProperties(
            custom_metadata={"userMetadata": batch_metadata(landed, f"attempt {landed.number}")},
            app_transactions=[Transaction(landed.sequence.app_id, landed.number)],
        ),
    )


def test_a_snapshot_finds_the_commit_of_a_batch_where_it_landed(tmp_path: Path) -> None:
    """Whatever landed since: delta-rs counts the versions of a history down from its own."""
    table, first, second = tmp_path / "t", batch(offsets(0, 3)), batch(offsets(3, 5), number=2)
    write_deltalake(table, NOTHING)
    land(table, first)
    land(table, second)
    aged = DeltaLog(str(table)).snapshot()
    for _ in range(12):
        write_deltalake(table, NOTHING, mode="append")
    for snapshot in (aged, DeltaLog(str(table)).snapshot()):
        found = [snapshot.log.commit_of(each) for each in (first, second)]
        stored = [(each.version, each.attempt) for each in found if each]
        assert stored == [(1, "attempt 1"), (2, "attempt 2")]


def test_a_commit_that_the_log_has_lost_is_at_most_the_last_one_lost(tmp_path: Path) -> None:
    table, landed = tmp_path / "t", batch(offsets(0, 3))
    write_deltalake(table, NOTHING)
    land(table, landed)
    write_deltalake(table, NOTHING, mode="append")
    DeltaTable(table).create_checkpoint()
    for version in (0, 1):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    snapshot = DeltaLog(str(table)).snapshot()
    assert snapshot.log.commit_of(landed) is None
    assert (snapshot.log.last_lost, snapshot.log.landed_in(landed)) == (1, 1)


def test_a_version_is_known_by_its_commit_as_long_as_the_log_has_it(tmp_path: Path) -> None:
    """No other table has it, though it has as many versions."""
    assert DeltaLog(str(tmp_path / "none")).snapshot().log.based_on() is None
    found = []
    for name in ("t", "another"):
        write_deltalake(tmp_path / name, NOTHING)
        snapshot = DeltaLog(str(tmp_path / name)).snapshot()
        write_deltalake(tmp_path / name, NOTHING, mode="append")
        found.append(snapshot.log.based_on())
    one, other = found
    assert one is not None
    assert other is not None
    assert (one.version, other.version) == (0, 0)
    assert one.digest != other.digest
    DeltaTable(tmp_path / "t").create_checkpoint()
    (tmp_path / "t" / "_delta_log" / f"{1:020d}.json").unlink()
    assert DeltaLog(str(tmp_path / "t")).snapshot().log.based_on() is None


def test_the_fingerprints_of_a_batch_are_found_where_its_receipt_says_or_anywhere(
    tmp_path: Path,
) -> None:
    table, landed = tmp_path / "t", batch(offsets(0, 3))
    write_deltalake(table, NOTHING)
    told = batch_metadata(landed, "attempt", {offsets(0, 3).partition: "c0ffee"})
    write_deltalake(
        table,
        NOTHING,
        mode="append",
        commit_properties=CommitProperties(custom_metadata={"userMetadata": told}),
    )
    write_deltalake(table, NOTHING, mode="append")
    snapshot = DeltaLog(str(table)).snapshot()
    # None: not known; 1: right; others: it landed in another table, or a copy has grown anew.
    for version in (None, 0, 1, 2, 9):
        assert snapshot.log.fingerprints(landed, version) == {offsets(0, 3).partition: "c0ffee"}
    (table / "_delta_log" / f"{1:020d}.json").unlink()
    assert snapshot.log.fingerprints(landed, 1) == {}


def placed(rows: int) -> pa.Table:
    zeros = pa.array([0] * rows, pa.int32())
    return pa.table({"_topic_id": pa.array(["t"] * rows, pa.string()), "_partition": zeros})


def test_a_snapshot_asks_the_log_once_for_each_sequence(tmp_path: Path) -> None:
    """Each question reads the log, and in a bucket that is a request for each file of it."""
    landed = batch(offsets(0, 3), number=2)
    for name, app_id in (("t", landed.sequence.app_id), ("q", landed.sequence.quarantine_app_id)):
        used = CommitProperties(app_transactions=[Transaction(app_id, landed.number)])
        write_deltalake(tmp_path / name, NOTHING, commit_properties=used)
        owner = {"sluice.pipeline": landed.sequence.pipeline}
        DeltaTable(tmp_path / name).alter.set_table_properties(owner, raise_if_not_exists=False)
    data = DeltaLog(str(tmp_path / "t")).snapshot()
    quarantine = QuarantineTable(str(tmp_path / "q")).snapshot()
    asked = []
    for _ in range(2):
        asked += [data.committed(landed.sequence), quarantine.number(landed.sequence)]
        for name in ("t", "q"):
            shutil.rmtree(tmp_path / name / "_delta_log", ignore_errors=True)
    assert asked == [2, 2, 2, 2]


def test_whether_a_table_is_empty_is_known_from_its_first_row(tmp_path: Path) -> None:
    table = tmp_path / "t"
    assert DeltaLog(str(table)).snapshot().is_empty
    write_deltalake(table, placed(0))
    assert DeltaLog(str(table)).snapshot().is_empty
    for _ in range(60):
        write_deltalake(table, placed(2), mode="append")
    # Some files are read ahead of the first row.
    for each in DeltaTable(table).file_uris()[-3:]:
        Path(each).unlink()
    assert not DeltaLog(str(table)).snapshot().is_empty
    DeltaTable(table).delete()
    assert DeltaLog(str(table)).snapshot().is_empty
