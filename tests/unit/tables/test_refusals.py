"""What a table's errors mean by the next move: a conflict, a refusal, or another try."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from sluice.errors import (
    CommitConflict,
    CommitFailed,
    CommitUnknown,
    OffsetsDamaged,
    StoreUnavailable,
    TableRefused,
)
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.pipeline import open_pipeline
from sluice.progress.retries import until_it_lands
from sluice.settings import Settings
from sluice.tables.delta_log import DeltaLog
from sluice.tables.fence import FENCE
from sluice.tables.offsets_appends import append_plan
from sluice.tables.offsets_schema import SCHEMA
from sluice.tables.offsets_table import OffsetsTable
from sluice.tables.refusals import reading
from sluice.tables.table_files import answered

from tests.unit.builders import batch, offsets, sequence, spec

ORIGIN = Origin("run", "pytest", datetime.now(UTC))
PLAN = Plan((batch(offsets(0, 10)),), ())
# What Spark adds for CLUSTER BY, for example; delta-rs 1.6 commits with neither.
FEATURES = ["domainMetadata", "rowTracking"]


def offsets_at(folder: Path) -> OffsetsTable:
    return OffsetsTable(str(folder / "offsets"), "flights", str(folder / "version_1"))


@pytest.fixture
def offsets_table(tmp_path: Path) -> OffsetsTable:
    """An offsets table in `offsets` with one plan."""
    table = offsets_at(tmp_path)
    append_plan(table.snapshot_to_write(), PLAN, ORIGIN)
    return table


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data table of the pipeline."""
    where = tmp_path / "data"
    owned = {"sluice.pipeline": "flights"}
    DeltaTable.create(where, SCHEMA, configuration=owned, raise_if_key_not_exists=False)
    return where


def commit_by_hand(table: Path, *actions: dict[str, Any]) -> None:
    number = DeltaTable(table).version() + 1
    lines = map(json.dumps, ({"commitInfo": {"timestamp": 0, "operation": "X"}}, *actions))
    (table / "_delta_log" / f"{number:020d}.json").write_text("\n".join(lines))


def add_features(table: Path, added: Sequence[str] = FEATURES) -> None:
    """As another writer does that knows more features than delta-rs."""
    features = ["appendOnly", "invariants", *added]
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}
    commit_by_hand(table, {"protocol": protocol})


def append_transaction(table: Path, app_id: str, number: int) -> None:
    by = CommitProperties(app_transactions=[Transaction(app_id, number)])
    write_deltalake(table, SCHEMA.empty_table(), mode="append", commit_properties=by)


def test_a_feature_that_cannot_be_written_is_named_at_once(
    offsets_table: OffsetsTable, tmp_path: Path
) -> None:
    """Not a conflict, which would be tried again as if another process had been first."""
    add_features(tmp_path / "offsets")
    following = Plan((batch(offsets(10, 20), number=2),), ())
    with pytest.raises(TableRefused, match=r"offsets.*domainMetadata, rowTracking.*DROP FEATURE"):
        append_plan(offsets_table.snapshot_to_write(), following, ORIGIN)


def test_a_commit_that_came_first_is_a_conflict(
    offsets_table: OffsetsTable, tmp_path: Path
) -> None:
    behind = offsets_table.snapshot()
    following = Plan((batch(offsets(10, 20), number=2),), ())
    append_plan(offsets_table.snapshot(), following, ORIGIN)
    with pytest.raises(CommitConflict):
        append_plan(behind, following, ORIGIN)


def test_a_store_that_refuses_is_a_failure_with_its_reason(
    offsets_table: OffsetsTable, tmp_path: Path
) -> None:
    """The next commit's place is taken by something that is no commit, so nothing has moved."""
    snapshot = offsets_table.snapshot()
    (tmp_path / "offsets" / "_delta_log" / f"{2:020d}.json").mkdir()
    with pytest.raises(CommitFailed, match=r"offsets.*[Rr]un again"):
        append_plan(snapshot, Plan((batch(offsets(10, 20), number=2),), ()), ORIGIN)


def test_a_fence_starts_over_only_for_a_batch_or_a_fence(data: Path) -> None:
    lanes = [sequence(), sequence(lane="backfill")]
    fencing = DeltaLog(str(data)).snapshot().fencing()
    assert fencing is not None
    append_transaction(data, lanes[1].app_id, 1)
    with pytest.raises(CommitConflict):
        fencing.close(lanes, ORIGIN.at)
    fencing = DeltaLog(str(data)).snapshot().fencing()
    assert fencing is not None
    add_features(data)
    with pytest.raises(CommitConflict):
        fencing.close(lanes, ORIGIN.at)
    assert DeltaTable(data).transaction_version(lanes[0].app_id) != FENCE


def test_a_fence_is_written_without_delta_rs_where_it_lacks_a_feature(data: Path) -> None:
    lanes = [sequence(), sequence(lane="backfill")]
    add_features(data)
    fencing, late = (DeltaLog(str(data)).snapshot().fencing() for _ in range(2))
    assert fencing is not None
    assert late is not None
    fencing.close(lanes, ORIGIN.at)
    table = DeltaTable(data)
    assert [table.transaction_version(each.app_id) for each in lanes] == [FENCE, FENCE]
    with pytest.raises(CommitConflict, match="is another commit's"):
        late.close(lanes, ORIGIN.at)
    assert DeltaTable(data).version() == table.version()
    again = DeltaLog(str(data)).snapshot().fencing()
    assert again is not None
    (data / "_delta_log" / f"{table.version() + 1:020d}.json").mkdir()
    with pytest.raises((CommitConflict, CommitFailed)):
        again.close(lanes, ORIGIN.at)


def test_a_feature_that_asks_something_of_every_commit_is_refused_by_name(data: Path) -> None:
    add_features(data, ["inCommitTimestamp"])
    with pytest.raises(TableRefused, match=r"data.*found inCommitTimestamp"):
        DeltaLog(str(data)).snapshot().fencing()


def test_compaction_is_refused_by_name_too(offsets_table: OffsetsTable, tmp_path: Path) -> None:
    for number in (2, 3):
        following = Plan((batch(offsets(10, 20), number=number),), ())
        append_plan(offsets_table.snapshot(), following, ORIGIN)
    add_features(tmp_path / "offsets")
    with pytest.raises(TableRefused, match="domainMetadata, rowTracking"):
        offsets_table.maintain()


def corrupt(log: Path) -> None:
    (log / f"{1:020d}.json").write_text("{nonsense")


def rubbish(log: Path) -> None:
    for each in log.parent.rglob("*.parquet"):
        each.write_bytes(b"x" * each.stat().st_size)


def vacuumed(log: Path) -> None:
    for each in log.parent.rglob("*.parquet"):
        each.unlink()


@pytest.mark.parametrize(
    ("damage", "means", "says"),
    [
        (corrupt, CommitUnknown, r"offsets: cannot be read: .*[Rr]un again"),
        (rubbish, CommitUnknown, r"offsets/?: cannot be read: .*[Rr]un again"),
        (vacuumed, OffsetsDamaged, r"offsets/?: .* is gone: .*part-.*[Rr]estore.*sluice recover"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_the_next_move(
    offsets_table: OffsetsTable,
    tmp_path: Path,
    damage: Callable[[Path], None],
    means: type[Exception],
    says: str,
) -> None:
    damage(tmp_path / "offsets" / "_delta_log")
    with pytest.raises(means, match=says) as raised:
        offsets_table.snapshot().batches(sequence(), last=1)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "said",
    [
        "Generic S3 error: Error performing GET http://s3/1.checkpoint.parquet - HTTP error",
        "Generic S3 error: Error performing GET http://s3/1.checkpoint.parquet - 503 SlowDown",
        "The operation lacked the necessary privileges to complete for path 1.checkpoint.parquet",
        "The operation lacked valid authentication credentials for path 1.checkpoint.parquet",
    ],
)
def test_a_checkpoint_that_a_bucket_does_not_give_out_is_no_damage(said: str) -> None:
    for ask in (answered, reading):
        with pytest.raises(StoreUnavailable, match="sluice_warehouse"), ask("s3a://lake/offsets"):
            raise DeltaError(f"Kernel error: Arrow error: External: {said}")


def test_a_checkpoint_that_is_gone_from_a_bucket_is_damage() -> None:
    gone = DeltaError("Arrow error: External: Object at location 1.checkpoint.parquet not found")
    with pytest.raises(DeltaError), answered("s3a://lake/offsets"):
        raise gone
    with pytest.raises(CommitUnknown, match="restore"), reading("s3a://lake/offsets"):
        raise gone


def test_an_offsets_table_that_cannot_be_made_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "no_folder").write_text("")
    with pytest.raises(CommitFailed, match=r"no_folder/offsets.*[Rr]un again"):
        offsets_at(tmp_path / "no_folder").snapshot_to_write()


class Resting:
    """A clock on which waiting takes no time."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> datetime:
        return ORIGIN.at

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def test_conflicts_without_end_end_after_a_while_with_pauses_between(tmp_path: Path) -> None:
    tried: list[int] = []
    clock = Resting()
    settings = Settings(warehouse=str(tmp_path), pipelines=tmp_path)
    trips = open_pipeline(spec(), settings, {"bootstrap.servers": "127.0.0.1:1"})

    def conflicting() -> None:
        tried.append(len(tried))
        raise CommitConflict("always")

    with pytest.raises(CommitFailed, match="10 times in a row, another"):
        until_it_lands(replace(trips.resources, clock=clock), conflicting, "{times}, another")
    assert len(tried) == 10
    assert len(clock.waits) == 9
    assert 0.1 < sum(clock.waits) < 10
