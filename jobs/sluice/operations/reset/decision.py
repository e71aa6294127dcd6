"""The decision of a reset: which cursors move, and what the generation before is closed at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sluice.offsets.batches import Batch, Cursor
from sluice.offsets.resets import CursorMove, Reset
from sluice.operations.reset.logs_of_kept_rows import require_logs_of_kept_rows
from sluice.operations.reset.standing import HeldPosition, Standing
from sluice.operations.reset.targets import Target
from sluice.positions.position import keep_cursor, require_rows_below
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.start import PositionAnswers


def decide_reset(
    resources: PipelineResources, standing: Standing, target: Target, reason: str
) -> Reset:
    """The reset that would be written now. Raises as `preview_reset` does."""
    lane, fencing = standing.forward, standing.fencing
    position, ask = standing.position, PositionAnswers(resources)
    held = _with_known_ends(position.held, lane.unfinished)
    moves = {**keep_cursor(held), **target.moves(position, ask)}
    require_rows_below(lane.pipeline, moves, position.cursor, position.held)
    cluster = target.cluster_id(position, ask)
    if target.asks_kafka and cluster == position.cluster_id:
        require_logs_of_kept_rows(resources, standing, moves)
    return Reset(
        pipeline=lane.pipeline,
        generation=lane.generation + 1,
        closed_at=position.last,
        cursor=tuple(_from_there(position, each) for _, each in sorted(moves.items())),
        cluster_id=cluster,
        data_version=fencing.version,
        reason=reason,
        data_table_id=lane.data.table_id,
        earlier=position.moved,
        towards=target.towards,
    )


def _from_there(position: HeldPosition, moved: CursorMove) -> CursorMove:
    """A move with the cursor before it, and whether that is of another topic of the name."""
    last = position.cursor.get(moved.partition)
    if last is None:
        return moved
    # Below it, reading again replaces the rows of any writer.
    before = max(last.offsets.end, position.reached.get(moved.partition, 0))
    return replace(moved, before=before, anew=moved.after.topic_id != last.topic_id)


def _with_known_ends(held: Cursor, closed: Iterable[Batch]) -> Cursor:
    """The cursors with the log's end as the batches know it that the reset closes.

    For a topic that is gone, only they show that it had more records.
    """
    found = dict(held)
    for batch in closed:
        for at, planned in batch.by_partition.items():
            last = found.get(at)
            if last is not None and last.topic_id == planned.topic_id:
                end = max(last.last_stable_offset, planned.last_stable_offset)
                found[at] = replace(last, last_stable_offset=end)
    return found


def require_decided(resources: PipelineResources, standing: Standing, *, record: bool) -> None:
    """Raises BatchInDoubt before any message about a target: no target decides about a batch."""
    for lane in (standing.forward, standing.backfill):
        # What a RESTORE has undone is read again, and needs no decision.
        if lane.as_committed:
            require_due_decided(resources, lane, record=record)
