"""A loss counts where a batch that counts goes on behind it, not where a reset undid its plan."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from sluice.offsets.batches import BatchSequence, Lane
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.resets import CursorMove, Reset
from sluice.progress.committed import losses_that_count
from sluice.progress.lane_state import LaneState, lane_state
from sluice.tables.delta_log import DeltaLog
from sluice.tables.fence import FENCE
from sluice.tables.offsets_appends import append_plan, append_reset
from sluice.tables.offsets_table import OffsetsTable
from sluice.tables.ownership import OWNER

from tests.unit.builders import CLUSTER, TOPIC_ID, batch, offsets, planned, sequence

ORIGIN = Origin("run", "pytest", datetime(2013, 1, 1, 12, tzinfo=UTC))
RETENTION = LossCause(LossKind.RETENTION)
# Batch 1 goes on behind the first loss and ends at 20, where the second begins; then comes batch 2.
READ = (batch(offsets(5, 20)), batch(offsets(25, 30), number=2))
LOST = (offsets(0, 5), offsets(20, 25))


def lane(folder: Path, committed: int, closed_at: int | None = None) -> LaneState:
    """Two batches are planned, of which some have landed; then, perhaps, came a reset."""
    table = OffsetsTable(str(folder / "t__offsets"), "flights", str(folder / "none"))
    losses = tuple(Loss(each, TOPIC_ID, RETENTION) for each in LOST)
    append_plan(table.snapshot_to_write(), Plan(READ, losses), ORIGIN)
    data = DeltaTable.create(
        folder / "t",
        pa.schema([("id", pa.int64())]),
        configuration={OWNER: "flights"},
        raise_if_key_not_exists=False,
    )
    commit(data, sequence(), committed)
    if closed_at is not None:
        cursor = (CursorMove(planned(offsets(20, 20)), 20),)
        ends: dict[Lane, int] = {"forward": closed_at, "backfill": 0}
        reset = Reset("flights", 2, ends, cursor, CLUSTER, data.version(), "a reason", done=True)
        append_reset(table.snapshot(), reset, ORIGIN)
        for each in reset.closes:
            commit(data, each, FENCE)
    return lane_state("flights", table.snapshot(), DeltaLog(str(folder / "t")).snapshot())


def commit(data: DeltaTable, of: BatchSequence, number: int) -> None:
    landed = CommitProperties(app_transactions=[Transaction(of.app_id, number)])
    data.create_write_transaction([], "append", data.schema(), commit_properties=landed)
    data.update_incremental()


@pytest.mark.parametrize(
    ("committed", "closed_at", "count"),
    [(1, None, LOST), (1, 1, LOST[:1]), (2, 2, LOST), (2, 1, LOST[:1]), (0, 0, ())],
    ids=["open", "closed before it", "closed behind it", "given up", "closed before both"],
)
def test_a_loss_at_the_end_of_a_closed_sequence_does_not_count(
    tmp_path: Path, committed: int, closed_at: int | None, count: tuple[OffsetRange, ...]
) -> None:
    found = losses_that_count(lane(tmp_path, committed, closed_at))
    assert tuple(each.offsets for each in found) == count
