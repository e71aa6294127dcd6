"""Explanations: what Kafka's log, the tables and recorded losses say about missing offsets.

Each is asked only about what the one before has left unexplained.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from sluice.broker.raw_log import read_raw_log
from sluice.errors import TableRefused
from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.quarantined import RecordState
from sluice.offsets.ranges import TopicIdPartition
from sluice.offsets.receipts import GapCount, Span
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.progress.committed import losses_that_count
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.counting import Aside, ExplainGaps
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap, explain, missing_ranges
from sluice.tables.offsets_rows import read_losses

log = logging.getLogger(__name__)

# Before offsets count as gone: slow tiered storage (KIP-405) answers with nothing for a while, and
# a broker that has just started may not know a topic yet.
_PATIENCE_S = 30.0
_TOPIC_PATIENCE_S = 6.0


@dataclass(frozen=True)
class _OneTopic:
    """A selection of one topic, whether or not the spec still names it."""

    topic: str

    @property
    def topics(self) -> list[str]:
        return [self.topic]

    def selects(self, topic: str) -> bool:
        return topic == self.topic


def explanations(resources: PipelineResources, state: LaneState) -> ExplainGaps:
    """The lookup that explains missing offsets."""

    def explain_missing(planned: PlannedRange, missing: list[Span]) -> Gaps:
        found = _by_log(resources, planned, missing)
        if found.of_kind(LossKind.PRESENT):
            found = _read_since(resources, state, planned, found)
        if found.unexplained:
            found = found.lost_before(_losses_of(state, planned))
        return found

    return explain_missing


def _by_log(resources: PipelineResources, planned: PlannedRange, missing: list[Span]) -> Gaps:
    """What the log that was read says; nothing, where its topic is gone or another's by now."""
    if _log_of(resources, planned) is None:
        gone = (UnexplainedGap(start, end, LossKind.GONE) for start, end in missing)
        return Gaps(GapCount(), tuple(gone))
    partition = planned.offsets.partition
    compacts = resources.kafka.compacts(partition.topic)
    found = explain(missing, read_raw_log(resources.client, partition, missing), compacts=compacts)
    absent = found.of_kind(LossKind.ABSENT)
    if not absent:
        return found
    log.info("%s: not in the log; asking again for %g s", planned.offsets, _PATIENCE_S)
    pages = read_raw_log(
        resources.client, partition, absent, timeout=2 * _PATIENCE_S, patience=_PATIENCE_S
    )
    again = explain(absent, pages, compacts=compacts)
    return replace(
        found,
        explained=found.explained + again.explained,
        unexplained=_in_order(*found.without(absent).unexplained, *again.unexplained),
    )


def _log_of(resources: PipelineResources, planned: PlannedRange) -> PartitionLog | None:
    """The log that was read; None if it stays away."""
    at = planned.offsets.partition

    def look() -> PartitionLog | None:
        found = resources.kafka.state(_OneTopic(at.topic)).logs.get(at)
        return found if found is not None and found.topic_id == planned.topic_id else None

    again = Retrying(
        retry=retry_if_result(lambda found: found is None),
        wait=wait_fixed(2),
        stop=stop_after_delay(_TOPIC_PATIENCE_S),
        retry_error_callback=lambda _: None,
    )
    found: PartitionLog | None = again(look)
    return found


def _read_since(
    resources: PipelineResources, state: LaneState, planned: PlannedRange, found: Gaps
) -> Gaps:
    """Without what a later batch has read: it has a row by now, in the table or in quarantine."""
    held = found.of_kind(LossKind.PRESENT)
    place = TopicIdPartition(planned.topic_id, planned.offsets.partition.partition)
    within = held[0][0], held[-1][1]
    try:
        rows = _among(state.data.offsets_in(place, *within), held)
        aside = np.setdiff1d(_among(_live_aside(resources, planned), held), rows)
    except (FileNotFoundError, TableRefused) as problem:
        log.warning("%s: whether they were read since is unknown: %s", planned.offsets, problem)
        return found
    if not len(rows) and not len(aside):
        return found
    log.warning(
        "%s: %d offsets that the batch did not land have been read again since",
        planned.offsets,
        len(rows) + len(aside),
    )
    since = _spans(within, np.concatenate([rows, aside]))
    return replace(found.without(since), records=len(rows), quarantined=len(aside))


def _live_aside(resources: PipelineResources, planned: PlannedRange) -> Offsets:
    rows = read_quarantined(resources).of(RecordState.LIVE)
    mine = (planned.topic_id, planned.offsets.partition)
    found = [each.offset for each in rows if (each.topic_id, each.partition) == mine]
    return np.array(found, dtype=np.int64)


def _among(offsets: Offsets, spans: Sequence[Span]) -> Offsets:
    inside = np.zeros(len(offsets), dtype=bool)
    for start, end in spans:
        inside |= (offsets >= start) & (offsets < end)
    return np.unique(offsets[inside])


def _spans(within: Span, offsets: Offsets) -> list[Span]:
    """The offsets as ranges."""
    holes = missing_ranges(within, np.unique(offsets))
    bounds = [within[0], *(bound for hole in holes for bound in hole), within[1]]
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return [(start, end) for start, end in pairs if start < end]


def _losses_of(state: LaneState, planned: PlannedRange) -> list[Loss]:
    mine = (planned.topic_id, planned.offsets.partition)
    found = losses_that_count(state)
    return [each for each in found if (each.topic_id, each.offsets.partition) == mine]


def _in_order(*gaps: UnexplainedGap) -> tuple[UnexplainedGap, ...]:
    return tuple(sorted(gaps, key=lambda gap: gap.start))


def quarantined_by(resources: PipelineResources, state: LaneState, batch: Batch) -> Aside | None:
    """The offsets that a batch quarantined: its rows, and those that an operator dropped since.

    None where the quarantine table can no longer be read.
    """
    rows = resources.quarantine.snapshot().rows_of(batch)
    if rows is None:
        return None
    # A drop belongs to the forward lane of the generation in which it was decided.
    drops = BatchSequence(state.pipeline, "forward", state.generation)
    losses = list(read_losses(state.snapshot.rows(drops, ["loss"])))

    def aside(planned: PlannedRange) -> Offsets:
        at = planned.offsets.partition
        dropped = [
            np.arange(each.offsets.start, each.offsets.end, dtype=np.int64)
            for each in losses
            if (each.dropped_from, each.topic_id, each.offsets.partition)
            == (str(batch), planned.topic_id, at)
        ]
        there = rows.offsets(TopicIdPartition(planned.topic_id, at.partition))
        return np.unique(np.concatenate([NO_ROWS.offsets, there, *dropped]))

    return aside
