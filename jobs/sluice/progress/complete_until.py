"""Complete until: the moment up to which a table has all that readers of Kafka could see."""

from __future__ import annotations

from datetime import datetime

from sluice.errors import SluiceError
from sluice.offsets.batches import positions_there
from sluice.offsets.partition_log import KafkaState
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_rows_of_data


def complete_until(
    resources: PipelineResources,
    lane: LaneState,
    state: KafkaState | None,
    *,
    refused: bool = False,
) -> datetime | None:
    """The moment; None where none is known: before the cursor has once reached the LSOs.

    The forward lane's last committed batch has recorded one. If by now all is read, it is the one
    before the logs of `state` were asked for, None where Kafka was not. Where the next run would be
    `refused`, the present proves nothing; and nothing does in a table that others have altered.
    """
    if refused and _is_altered(lane):
        return None
    if state and not refused and not lane.unfinished and _is_read(resources, lane, state):
        return state.asked
    return lane.last.complete_until if lane.last else None


def _is_read(resources: PipelineResources, lane: LaneState, state: KafkaState) -> bool:
    """Whether the cursor is at every LSO; a partition that is missed is not read."""
    ends = positions_there(lane.cursor, state.logs)
    missed = (at for at in ends if at not in state.logs and resources.spec.selects(at.topic))
    return state.is_read(ends) and not any(missed)


def _is_altered(lane: LaneState) -> bool:
    try:
        check_rows_of_data(lane)
    except SluiceError:
        return True
    return False
