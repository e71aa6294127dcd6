"""The decision of a reset: which cursors move, and what the generation before is closed at."""

from __future__ import annotations

from dataclasses import replace

from sluice.errors import (
    SettingsError,
)
from sluice.offsets.resets import Reset
from sluice.operations.reset.held_position import HeldPosition, held_position
from sluice.operations.reset.targets import Target, ToIntended
from sluice.positions.position import Moves, keep_cursor, require_rows_below
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.fingerprints import unmoved
from sluice.protocol.plan.log_changes import (
    compare_held,
    require_no_contradiction,
    require_same_cluster,
)
from sluice.protocol.plan.log_identity import compare_logs, known_fingerprints
from sluice.protocol.plan.start import PositionAnswers
from sluice.tables.fence import Fencing


def decide_reset(resources: PipelineResources, target: Target, reason: str) -> Reset:
    """The reset that would be written now. Raises as `preview_reset` does."""
    return decide(resources, target.read(resources), target, reason)


def decide(resources: PipelineResources, lane: LaneState, target: Target, reason: str) -> Reset:
    fencing = require_fencing(lane)
    position = held_position(lane)
    ask = PositionAnswers(resources)
    moves = {**keep_cursor(position.held), **target.moves(position, ask)}
    require_rows_below(moves, position.cursor, position.held)
    cluster = target.cluster_id(position, ask)
    if not isinstance(target, ToIntended) and cluster == position.cluster_id:
        _require_logs_of_what_stays(resources, lane, position, moves)
    old = {partition: planned.offsets.end for partition, planned in position.cursor.items()}
    return Reset(
        pipeline=lane.pipeline,
        generation=lane.generation + 1,
        closed_at=position.last,
        cursor=tuple(
            replace(each, before=old.get(partition)) for partition, each in sorted(moves.items())
        ),
        cluster_id=cluster,
        data_version=fencing.version,
        reason=reason,
        data_table_id=lane.data.table_id,
        earlier=position.lowered,
        towards=target.towards,
    )


def _require_logs_of_what_stays(
    resources: PipelineResources, lane: LaneState, position: HeldPosition, moves: Moves
) -> None:
    """Raises ResetNeeded where a cursor would stay on a log that is not the one that was read."""
    after = {each: moved.after for each, moved in moves.items()}
    stays = unmoved(position.held, after)
    state = resources.kafka.state(resources.spec)
    require_same_cluster(lane.pipeline, position.cluster_id, state)
    known = known_fingerprints(lane.data, position.newest, stays)
    changes = compare_logs(resources, stays, known, state)
    require_no_contradiction(lane.pipeline, [*compare_held(stays, state), *changes])


def require_fencing(lane: LaneState) -> Fencing:
    fencing = lane.data.fencing()
    if fencing is None:
        raise SettingsError(
            f"{lane.pipeline}: there is no data table yet, so there is nothing to reset."
            " The first run creates it; until there is a plan, `start` in the spec decides."
        )
    return fencing
