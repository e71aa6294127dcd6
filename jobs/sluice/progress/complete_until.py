"""Complete until: the moment up to which a table has all that readers of Kafka could see."""

from __future__ import annotations

from datetime import datetime

from sluice.errors import SluiceError
from sluice.offsets.batches import missed_places
from sluice.offsets.partition_log import KafkaState
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table


def complete_until(
    resources: PipelineResources,
    lane: LaneState,
    state: KafkaState | None = None,
    *,
    compared: bool = False,
) -> datetime | None:
    """The moment that is proven; None where none is. `lane` is the forward one.

    The last batch that is accounted for, by its receipt, has recorded one. If by now all is read
    and accounted for, it is the one before the logs of `state` were asked for: give it only where
    nothing refuses the next run. Unless the records that were read last were `compared` with it, a
    partition that was led by another broker since may be another log.
    """
    if lane.in_lane("backfill").due:
        # What was there may have been replaced by less.
        return None
    settled = not lane.unfinished and not lane.due
    is_known = compared or (state is not None and _has_same_leaders(lane, state))
    if state and settled and is_known and _is_read(resources, lane, state):
        return state.asked
    return _recorded(resources, lane)


def complete_although(resources: PipelineResources, lane: LaneState) -> datetime | None:
    """The same where the next run is refused: nothing is proven of a table that others altered."""
    try:
        check_data_table(lane)
    except SluiceError:
        return None
    return complete_until(resources, lane)


def speaks_of_all_topics(resources: PipelineResources, lane: LaneState, batch: int) -> bool:
    """Whether the moment of a planned batch, by its number, speaks of all topics of the spec."""
    planned_with = lane.snapshot.planned_with(lane.sequence, batch)
    return resources.spec.edition.reads_no_other_topics(planned_with)


def _recorded(resources: PipelineResources, lane: LaneState) -> datetime | None:
    """What the last receipt says, if the topics that it speaks of are those of the spec."""
    last = [each.batch for each in lane.receipts if each.batch.sequence == lane.sequence]
    if not last or last[0].complete_until is None:
        return None
    covered = speaks_of_all_topics(resources, lane, last[0].number)
    return last[0].complete_until if covered else None


def _is_read(resources: PipelineResources, lane: LaneState, state: KafkaState) -> bool:
    """Whether the cursor is at every LSO, in the log that was read; none is missed."""
    cursor = lane.cursor
    ends = {
        at: cursor[at].offsets.end
        for at, log in state.logs.items()
        if at in cursor and cursor[at].topic_id == log.topic_id
    }
    missed = (at for at in missed_places(cursor, state.logs) if resources.spec.selects(at.topic))
    return state.is_read(ends) and not any(missed)


def _has_same_leaders(lane: LaneState, state: KafkaState) -> bool:
    """Whether no partition had a new leader since it was planned, as far as Kafka tells."""
    return all(
        log.leader_epoch is None
        or (known := lane.cursor[at].leader_epoch) is None
        or log.leader_epoch <= known
        for at, log in state.logs.items()
        if at in lane.cursor
    )
