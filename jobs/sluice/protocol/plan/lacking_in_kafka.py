"""Lacking in Kafka: what Kafka still holds of the quarantined records that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from sluice.errors import SpecError
from sluice.moves import Move
from sluice.offsets.log_verdicts import NEVER_A_RECORD, Stretch
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.quantities import format_ranges
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of, without
from sluice.progress.erased import RangeToReread
from sluice.progress.lacking_rows import LackingRows, lacking_but_for, to_be_read
from sluice.progress.lane_state import LaneState
from sluice.progress.log_lookup import look_up
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_identity import with_former_topics
from sluice.spec_file.pipeline_spec import PipelineSpec


@dataclass(frozen=True)
class LackingInKafka:
    """The offsets among which rows are missing: with a record in Kafka, and without, likely first.

    An offset with a record and no row is missing; only rows beyond these are lost. `planned` will
    be read again in any case, as far as Kafka holds it.
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
    """What is lacking, by what Kafka still holds of it.

    Raises SpecError where that is of a topic that the spec no longer names: no batch reads it.
    """
    lacking = lacking_but_for(state, ())
    topics = sorted({each.partition.topic for each in lacking})
    kafka = with_former_topics(resources, resources.kafka.state(resources.spec), topics)
    compacting = resources.kafka.compacting(topics)
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
    _require_named(resources.spec, found)
    return found


def _require_named(spec: PipelineSpec, found: Iterable[LackingInKafka]) -> None:
    hidden = [
        each
        for lacking in found
        for each in lacking.again
        if not spec.selects(each.offsets.partition.topic)
    ]
    if hidden:
        names = ", ".join(sorted({each.offsets.partition.topic for each in hidden}))
        raise SpecError(
            f"{spec.pipeline}: topics: expected {names}, as quarantined records are gone that Kafka"
            f" still holds: {format_ranges(each.offsets for each in hidden)}; found a spec that no"
            " longer names it. Name it again until ",
            Move("quarantine recover", (spec.pipeline,)),
            " has read them again, or RESTORE the quarantine table.",
        )


def _ranges(partition: TopicPartition, found: Iterable[Stretch]) -> tuple[OffsetRange, ...]:
    return tuple(OffsetRange(partition, each.start, each.end) for each in found)
