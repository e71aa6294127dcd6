"""The decision of a reset: which cursors move, and what the generation before is closed at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sluice.errors import SettingsError
from sluice.offsets.batches import Batch, Cursor
from sluice.offsets.resets import LANES, Reset
from sluice.operations.reset.closed_receipts import can_count
from sluice.operations.reset.held_position import held_position, is_as_committed
from sluice.operations.reset.logs_of_kept_rows import require_logs_of_kept_rows
from sluice.operations.reset.targets import Target
from sluice.positions.position import keep_cursor, require_rows_below
from sluice.progress.lane_state import LaneState
from sluice.progress.lanes import ReadLane
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.start import PositionAnswers
from sluice.tables.fence import Fencing


def decide_reset(resources: PipelineResources, target: Target, reason: str) -> Reset:
    """The reset that would be written now. Raises as `preview_reset` does."""
    return decide(resources, target.read(resources), target, reason)


def decide(resources: PipelineResources, lane: LaneState, target: Target, reason: str) -> Reset:
    fencing = require_fencing(lane)
    position = held_position(lane, lambda batch: can_count(resources, lane, batch))
    ask = PositionAnswers(resources)
    held = _with_known_ends(position.held, lane.unfinished)
    moves = {**keep_cursor(held), **target.moves(position, ask)}
    require_rows_below(lane.pipeline, moves, position.cursor, position.held)
    cluster = target.cluster_id(position, ask)
    if target.asks_kafka and cluster == position.cluster_id:
        require_logs_of_kept_rows(resources, lane, position, moves)
    old = {partition: planned.offsets.end for partition, planned in position.cursor.items()}
    # What is read again below it is replaced, whoever has written the rows that are there.
    old |= {at: end for at, end in position.reached.items() if end > old[at]}
    anew = {
        at
        for at, planned in position.cursor.items()
        if at in moves and moves[at].after.topic_id != planned.topic_id
    }
    return Reset(
        pipeline=lane.pipeline,
        generation=lane.generation + 1,
        closed_at=position.last,
        cursor=tuple(
            replace(each, before=old.get(partition), anew=partition in anew)
            for partition, each in sorted(moves.items())
        ),
        cluster_id=cluster,
        data_version=fencing.version,
        reason=reason,
        data_table_id=lane.data.table_id,
        earlier=position.moved,
        towards=target.towards,
    )


def _with_known_ends(held: Cursor, closed: Iterable[Batch]) -> Cursor:
    """The cursors with the log's end as the batches know it that the reset closes.

    Of a topic that is gone, nothing else tells that more was there.
    """
    found = dict(held)
    for batch in closed:
        for at, planned in batch.by_partition.items():
            last = found.get(at)
            if last is not None and last.topic_id == planned.topic_id:
                end = max(last.last_stable_offset, planned.last_stable_offset)
                found[at] = replace(last, last_stable_offset=end)
    return found


def require_decided(resources: PipelineResources, read: ReadLane, *, record: bool) -> None:
    """Raises BatchInDoubt before anything is said about a target: none decides about a batch."""
    for name in LANES:
        lane = read(resources, name)
        # What a RESTORE has undone is read again, and needs no decision.
        if is_as_committed(lane):
            require_due_decided(resources, lane, record=record)


def require_fencing(lane: LaneState) -> Fencing:
    fencing = lane.data.fencing()
    if fencing is None:
        raise SettingsError(
            f"{lane.pipeline}: there is no data table yet, so there is nothing to reset."
            " The first run creates it; until there is a plan, `start` in the spec decides."
        )
    return fencing
