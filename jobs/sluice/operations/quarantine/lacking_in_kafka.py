"""Lacking in Kafka: what Kafka still holds of the quarantined records that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from sluice.offsets.log_verdicts import NEVER_A_RECORD, Stretch
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of, without
from sluice.progress.erased import RangeToReread
from sluice.progress.lacking_rows import LackingRows, lacking_but_for, to_be_read
from sluice.progress.lane_state import LaneState
from sluice.progress.log_lookup import look_up
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class LackingInKafka:
    """The offsets among which rows are lacking: with a record in Kafka, and without, likely first.

    What has a record and no row lacks, so that only what is beyond these is lost. `planned` is
    going to be read again in any case, as far as Kafka holds it.
    """

    lacking: LackingRows
    held: tuple[OffsetRange, ...]
    gone: tuple[OffsetRange, ...]
    planned: tuple[OffsetRange, ...] = ()

    @property
    def again(self) -> Iterator[RangeToReread]:
        """What is to be read again for it."""
        for each in without(self.held, self.planned):
            yield RangeToReread(each, self.lacking.topic_id)

    def losses(self, cause: LossCause) -> Iterator[Loss]:
        """A loss for each row that Kafka cannot deliver again."""
        left = max(0, self.lacking.rows - span_of(self.held))
        return replace(self.lacking, rows=left).losses(cause, self.gone)


def lacking_in_kafka(resources: PipelineResources, state: LaneState) -> list[LackingInKafka]:
    """What is lacking, by what Kafka still holds of it."""
    lacking, kafka = lacking_but_for(state, ()), resources.kafka.state(resources.spec)
    compacting = resources.kafka.compacting(sorted({e.partition.topic for e in lacking}))
    planned, found = list(to_be_read(state)), []
    for each in lacking:
        there, identity = kafka.logs.get(each.partition), (each.topic_id, state.history.cluster_id)
        if there is None or (there.topic_id, kafka.cluster_id) != identity:
            found.append(LackingInKafka(each, (), each.among))
            continue
        stable = OffsetRange(each.partition, 0, there.last_stable_offset)
        behind = without(each.among, [stable])
        wanted = [(offsets.start, offsets.end) for offsets in without(each.among, behind)]
        compacts = each.partition.topic in compacting
        verdicts = (
            look_up(resources.kafka, each.partition, wanted, compacts=compacts) if wanted else []
        )
        held = [e for e in verdicts if e.verdict is LossKind.PRESENT]
        gone = [e for e in verdicts if e.verdict not in (LossKind.PRESENT, *NEVER_A_RECORD)]
        ranges = partial(_ranges, each.partition)
        again = tuple(e.offsets for e in planned if e.place == each.place)
        found.append(LackingInKafka(each, ranges(held), (*ranges(gone), *behind), again))
    return found


def _ranges(partition: TopicPartition, found: Iterable[Stretch]) -> tuple[OffsetRange, ...]:
    return tuple(OffsetRange(partition, each.start, each.end) for each in found)
