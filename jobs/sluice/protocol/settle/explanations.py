"""Explanations: what Kafka's log, the tables and recorded losses say about missing offsets.

Each is asked only about what the one before has left unexplained.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_fixed

from sluice.broker.port import NamedTopics
from sluice.errors import CommitUnknown
from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.quarantined import RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition
from sluice.offsets.receipts import GapCount, Span
from sluice.offsets.row_offsets import Offsets, offsets_of
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.lane_state import LaneState
from sluice.progress.log_lookup import look_up
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.counting import ExplainGaps, QuarantinedIn
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap, gaps_of
from sluice.tables.offsets_rows import read_losses
from sluice.tables.refusals import UNREADABLE

log = logging.getLogger(__name__)

# Before a topic counts as gone: a broker that has just started may not know it yet.
_TIMES, _PAUSE_S = 4, 2.0


class _Answers:
    """Kafka's answers about topics, each asked once for all their partitions."""

    def __init__(self, resources: PipelineResources) -> None:
        self._resources = resources
        self._there: dict[tuple[str, str], bool] = {}
        self._compacts: dict[str, bool] = {}

    def is_there(self, planned: PlannedRange) -> bool:
        """Whether the topic that was read still exists; asked again for a while if not."""
        topic, topic_id = planned.offsets.partition.topic, planned.topic_id
        if (topic, topic_id) not in self._there:
            again = Retrying(
                retry=retry_if_result(operator.not_),
                sleep=self._resources.clock.sleep,
                wait=wait_fixed(_PAUSE_S),
                stop=stop_after_attempt(_TIMES),
                retry_error_callback=lambda _: False,
            )
            self._there[topic, topic_id] = again(self._has_log, topic, topic_id)
        return self._there[topic, topic_id]

    def compacts(self, topic: str) -> bool:
        """Whether the topic compacts."""
        if topic not in self._compacts:
            self._compacts[topic] = bool(self._resources.kafka.compacting([topic]))
        return self._compacts[topic]

    def _has_log(self, topic: str, topic_id: str) -> bool:
        logs = self._resources.kafka.state(NamedTopics([topic])).logs
        return any(each.topic_id == topic_id for each in logs.values())


def explanations(resources: PipelineResources, state: LaneState, batch: Batch) -> ExplainGaps:
    """The lookup that explains offsets that a batch has not landed."""
    answers = _Answers(resources)

    def explain_missing(planned: PlannedRange, missing: list[Span]) -> Gaps:
        found = _by_log(resources, answers, planned, missing)
        if found.of_kind(LossKind.PRESENT):
            found = _read_since(resources, state, batch, planned, found)
        if found.unexplained:
            found = found.lost_before(_losses_of(state, planned))
        return found

    return explain_missing


def _by_log(
    resources: PipelineResources, answers: _Answers, planned: PlannedRange, missing: list[Span]
) -> Gaps:
    """What the log that was read says; nothing, where its topic is gone or another's by now."""
    if not answers.is_there(planned):
        gone = (UnexplainedGap(start, end, LossKind.GONE) for start, end in missing)
        return Gaps(GapCount(), tuple(gone))
    partition = planned.offsets.partition
    compacts = answers.compacts(partition.topic)
    return gaps_of(look_up(resources.kafka, partition, missing, compacts=compacts))


def _read_since(
    resources: PipelineResources,
    state: LaneState,
    batch: Batch,
    planned: PlannedRange,
    found: Gaps,
) -> Gaps:
    """Without what a later batch has read: it has a row by now, in the table or in quarantine.

    A row of an earlier one is what the batch should have replaced.
    """
    held = found.of_kind(LossKind.PRESENT)
    place = planned.place
    within = held[0][0], held[-1][1]
    scope = OffsetScope.of_ranges({place: [OffsetRange(planned.offsets.partition, *within)]})
    later = _landed_after(state, batch, place, scope)
    try:
        stored = state.data.coordinates_in(scope).rows(place, later)
        rows = _among(stored.offsets[stored.reads >= 0], held)
        quarantined = np.setdiff1d(
            _among(_live_quarantined(resources, state, place, scope, later), held), rows
        )
    except (*UNREADABLE, CommitUnknown) as problem:
        log.warning("%s: whether they were read since is unknown: %s", planned.offsets, problem)
        return found
    if not len(rows) and not len(quarantined):
        return found
    log.warning(
        "%s: %d offsets that the batch did not land have been read again since",
        planned.offsets,
        len(rows) + len(quarantined),
    )
    since = OffsetRuns.of(np.concatenate([rows, quarantined])).spans
    return replace(found.without(since), records=len(rows), quarantined=len(quarantined))


def _landed_after(
    state: LaneState, batch: Batch, place: TopicIdPartition, scope: OffsetScope
) -> list[str]:
    """The batches that have read these offsets after this one."""
    names = [each.batch for each in committed_ranges(state, scope).at(place)]
    return names[names.index(str(batch)) + 1 :] if str(batch) in names else []


def _live_quarantined(
    resources: PipelineResources,
    state: LaneState,
    place: TopicIdPartition,
    scope: OffsetScope,
    batches: list[str],
) -> Offsets:
    rows = read_quarantined(resources, state, scope).of(RecordState.LIVE)
    found = [each.offset for each in rows if each.place == place and each.batch in batches]
    return np.array(found, dtype=np.int64)


def _among(offsets: Offsets, spans: Sequence[Span]) -> Offsets:
    inside = np.zeros(len(offsets), dtype=bool)
    for start, end in spans:
        inside |= (offsets >= start) & (offsets < end)
    return np.unique(offsets[inside])


def _losses_of(state: LaneState, planned: PlannedRange) -> list[Loss]:
    mine = (planned.topic_id, planned.offsets.partition)
    found = losses_that_count(state)
    return [each for each in found if (each.topic_id, each.offsets.partition) == mine]


def quarantined_by(
    resources: PipelineResources, state: LaneState, batch: Batch
) -> QuarantinedIn | None:
    """The offsets that a batch quarantined: its rows, and those that an operator dropped since.

    None where the quarantine table can no longer be read.
    """
    commit = state.data.log.commit_of(batch)
    try:
        rows = resources.quarantine.snapshot().added_by(batch, commit.aside if commit else None)
    except UNREADABLE as problem:
        log.warning("%s: its rows in quarantine cannot be read: %s", batch, problem)
        return None
    # A drop belongs to the forward lane of the generation in which it was decided.
    drops = BatchSequence(state.pipeline, "forward", state.generation)
    losses = list(read_losses(state.snapshot.rows(drops, ["loss"])))

    def quarantined_in(planned: PlannedRange) -> Offsets:
        at = planned.offsets.partition
        dropped = offsets_of(
            each.offsets
            for each in losses
            if (each.dropped_from, each.topic_id, each.offsets.partition)
            == (str(batch), planned.topic_id, at)
        )
        return np.union1d(rows.offsets(planned.place), dropped)

    return quarantined_in
