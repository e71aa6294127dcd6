"""Status: where the cursor is, how far it is behind, and what is unfinished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sluice.errors import (
    BrokerUnavailable,
    NewerFormat,
    SettingsError,
    SluiceError,
    TooManyQuarantined,
)
from sluice.offsets.batches import Cursor
from sluice.offsets.group_lag import GroupLag, group_lag
from sluice.offsets.lag import Lag
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.quarantined import QuarantinedRecord
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset
from sluice.operations.state_status import StateStatus, read_state_status
from sluice.progress.complete_until import complete_although, complete_until
from sluice.progress.interrupted import interrupted_reset
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lost_offsets import still_lost
from sluice.progress.moved_to_another import as_moved
from sluice.progress.quarantine_stock import KnownStocks, QuarantineStock, unless_altered
from sluice.progress.quarantined_records import Record, read_records
from sluice.progress.resources import PipelineResources
from sluice.progress.unfinished import unfinished_backfill
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.next_run import next_refusal
from sluice.protocol.plan.start import next_positions, start_without_effect

_MOST_SAMPLES = 10


@dataclass(frozen=True)
class PipelineStatus:
    """Both lanes, each partition's lag, the losses that count; `notes` are sentences about them.

    `group` is the consumer group that mirrors the cursor, and `state` the state table; None where
    the spec has none. `complete_until`: the table has all that Kafka showed before. `waiting` are
    the records in quarantine, None if that is unknown; `samples` has some of them.
    """

    forward: LaneState
    backfill: LaneState
    lags: tuple[Lag, ...]
    losses: tuple[Loss, ...]
    group: GroupLag | None
    state: StateStatus | None
    notes: tuple[str, ...]
    waiting: QuarantineStock | None
    samples: Mapping[QuarantinedRecord, Record]
    complete_until: datetime | None

    @property
    def last_receipt(self) -> Receipt | None:
        """The receipt of the forward lane's last batch; None where there is none yet."""
        found = (
            each for each in self.forward.receipts if str(each.batch) == str(self.forward.last)
        )
        return next(found, None)

    @property
    def opening(self) -> Reset | None:
        """The reset that opened the generation; None for the first one."""
        found = self.forward.history.opening
        return as_moved(self.forward, found) if found else None

    @property
    def lost(self) -> int:
        """How many offsets are lost."""
        return offsets_lost(self.losses)


@dataclass(frozen=True)
class UnknownStatus:
    """A pipeline that a newer Sluice has worked on: nothing is known but why it is refused."""

    pipeline: str
    notes: tuple[str, ...]


def read_status(resources: PipelineResources) -> PipelineStatus | UnknownStatus:
    """Read the tables and Kafka; nothing is written, and an altered table is not an error.

    Raises BrokerUnavailable when Kafka does not answer.
    """
    try:
        forward, backfill = read_unchecked(resources), read_unchecked(resources, "backfill")
    except NewerFormat as problem:
        return UnknownStatus(resources.spec.pipeline, (_refused(problem),))
    state = resources.kafka.state(resources.spec)
    refusal = next_refusal(resources, forward, KnownLogs(state))
    lags = read_lags(resources, next_positions(resources, forward, state), state)
    waiting = unless_altered(KnownStocks().read(resources, forward), forward, refusal)
    shown = [each.sample for each in waiting.reasons[:_MOST_SAMPLES]] if waiting else []
    ineffective = start_without_effect(resources, forward.snapshot)
    return PipelineStatus(
        forward,
        backfill,
        tuple(lags),
        tuple(still_lost(resources, forward)),
        _group_lag(resources, forward.cursor, state.logs),
        read_state_status(resources, forward),
        (
            *_refusals(refusal, forward),
            *unknown_times(lags),
            *([ineffective] if ineffective else []),
            *unfinished_backfill(backfill),
        ),
        waiting,
        {each.row: each for each in read_records(resources, shown)},
        complete_although(resources, forward)
        if refusal
        else complete_until(resources, forward, state, compared=True),
    )


def _refusals(refusal: SluiceError | None, forward: LaneState) -> Iterator[str]:
    """Why the next run would be refused, if it would; else which reset it finishes first."""
    match refusal:
        case None:
            yield from interrupted_reset(forward.resets)
        case TooManyQuarantined() as problem:
            # It is tried, and ends so again, unless the spec is another one by then.
            yield from interrupted_reset(forward.resets)
            yield str(problem)
        case problem:
            yield _refused(problem)


def _refused(problem: SluiceError) -> str:
    return f"The next run is refused: {problem}"


def _group_lag(
    resources: PipelineResources,
    cursor: Cursor,
    logs: Mapping[TopicPartition, PartitionLog],
) -> GroupLag | None:
    """How far the mirror is behind; unknown where the group cannot be read."""
    group = resources.spec.consumer_group
    if group is None:
        return None
    there = {
        each: at.offsets.end
        for each, at in cursor.items()
        if each in logs and logs[each].topic_id == at.topic_id
    }
    if not there:
        why = "no partition of the cursor is on the cluster" if cursor else "there is no cursor yet"
        return GroupLag(group, unknown=why)
    try:
        held = resources.kafka.group_offsets(group, list(there))
    except (BrokerUnavailable, SettingsError) as problem:
        return GroupLag(group, unknown=str(problem))
    return group_lag(group, there, held, {each: logs[each].log_start_offset for each in there})
