"""Drops: an operator gives quarantined records up as lost, with a reason.

First the loss records, then the rows: the next drop, or maintenance, completes an interrupted one.
The loss records name the batch, so that records count again once they are reread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

from sluice.errors import CommitConflict, CommitFailed, SettingsError
from sluice.failpoints import reach
from sluice.lake.port import Upkeep
from sluice.offsets.batches import BatchSequence
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.quarantined import (
    Drop,
    QuarantinedRecord,
    RecordFilter,
    RecordState,
    batch_offsets,
)
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import Quarantined, read_quarantined
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.progress.unaltered import check_data_table
from sluice.protocol.settle.lane_by_lane import settle_lanes
from sluice.protocol.settle.write_receipts import write_receipts
from sluice.tables.offsets_appends import append_drop

_NOT_DECIDED = LossCause(LossKind.DROPPED, actor="")
OpenUpkeep = Callable[[], AbstractContextManager[Upkeep]]
"""Starts Spark; called only if there are rows to remove."""


def preview_drop(resources: PipelineResources, choice: RecordFilter) -> Drop:
    """What a drop would record and remove; nothing is written."""
    return _decide(read_quarantined(resources), choice, _NOT_DECIDED)


def drop(
    resources: PipelineResources,
    choice: RecordFilter,
    reason: str,
    origin: Origin,
    open_upkeep: OpenUpkeep,
) -> Drop:
    """Drop the records. Raises CommitFailed after repeated conflicts, and as `settle` does."""
    decided = _record_drop(resources, choice, reason, origin)
    if decided.rows:
        try:
            with open_upkeep() as upkeep:
                upkeep.remove_quarantined(decided.rows)
        except CommitConflict as conflict:
            raise CommitFailed(
                f"{resources.spec.pipeline}: the decision is recorded, and the rows no longer"
                f" count, but they were not removed: {conflict}. Run again."
            ) from conflict
    return replace(decided, done=True)


def _record_drop(
    resources: PipelineResources, choice: RecordFilter, reason: str, origin: Origin
) -> Drop:
    cause = LossCause(LossKind.DROPPED, origin.actor, reason)

    def record() -> Drop:
        # A receipt counts what the batch has quarantined: it is written before any of it goes.
        settle_lanes(lambda lane: write_receipts(resources, origin, lane)).require_settled()
        found = read_quarantined(resources)
        decided = _decide(found, choice, cause)
        if not decided.losses:
            return decided
        append_drop(found.lane.snapshot, decided, origin)
        reach("drop recorded")
        return decided

    return until_it_lands(
        resources,
        record,
        f"{resources.spec.pipeline}: {{times}} another process dropped records. Run again when it"
        " is done.",
    )


def _decide(found: Quarantined, choice: RecordFilter, cause: LossCause) -> Drop:
    check_data_table(found.lane)
    chosen = [row for row in found.rows if row in choice]
    history = found.lane.history
    if not history:
        raise SettingsError(
            f"{found.lane.pipeline}: nothing was read yet, so there is nothing in quarantine."
        )
    decided = decide_drop(history.sequence, history.cluster_id, found.rows, chosen, cause)
    above = sum(_is_above(row, found.lane) for row in decided.chosen)
    return replace(decided, above_cursor=above)


def _is_above(row: QuarantinedRecord, lane: LaneState) -> bool:
    """Whether the cursor has yet to pass the row's record once more."""
    at = lane.cursor.get(row.partition)
    return at is not None and at.topic_id == row.topic_id and row.offset >= at.offsets.end


def decide_drop(
    sequence: BatchSequence,
    cluster_id: str,
    rows: Iterable[QuarantinedRecord],
    chosen: Iterable[QuarantinedRecord],
    cause: LossCause,
) -> Drop:
    """Drop the chosen rows that count; rows of earlier drops that are left over go with them."""
    live = tuple(each for each in chosen if each.state is RecordState.LIVE)
    left_behind = [each for each in rows if each.state is RecordState.DROPPED]
    return Drop(
        sequence,
        cluster_id,
        chosen=live,
        losses=tuple(
            Loss(each.offsets, each.topic_id, cause, each.batch) for each in batch_offsets(live)
        ),
        rows=tuple(batch_offsets([*live, *left_behind])),
    )
