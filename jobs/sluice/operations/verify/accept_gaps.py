"""Accepted gaps: an operator records unexplained gaps as lost, with a reason.

It closes a batch whatever stands in the way of its receipt: of a batch in doubt, every range is a
gap of its own kind until it is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sluice.errors import GapUnexplained, as_lines
from sluice.offsets.batches import Batch
from sluice.offsets.loss_causes import LossCause
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import OffsetRange, TopicPartition, within
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES
from sluice.progress.lane_state import LaneState
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.gaps import UnexplainedGap
from sluice.protocol.settle.lane_by_lane import settle_lanes
from sluice.protocol.settle.write_receipts import count_batch, doubt_about_topics, write_receipts

Unexplained = tuple[TopicPartition, UnexplainedGap]


def accept_gaps(
    resources: PipelineResources, gaps: Sequence[OffsetRange], reason: str, origin: Origin
) -> list[Receipt]:
    """Write the receipts that these gaps held back, with a loss row for each gap.

    Raises GapUnexplained, with nothing written, if one of them is not an unexplained gap; and, as
    `settle` does, if other gaps remain.
    """
    lanes = [read_lane(resources, lane) for lane in LANES]
    due = [(lane, batch) for lane in lanes for batch in lane.due]
    found = [each for lane, batch in due for each in _unexplained(resources, lane, batch)]
    _require_all_match(resources.spec.pipeline, gaps, found)

    def accept(partition: TopicPartition, gap: UnexplainedGap) -> LossCause | None:
        if any(_covers(each, partition, gap) for each in gaps):
            return LossCause(gap.cause, origin.actor, reason)
        return None

    done = settle_lanes(lambda lane: write_receipts(resources, origin, lane, by_hand=accept))
    return list(done.require_settled())


def _unexplained(resources: PipelineResources, lane: LaneState, batch: Batch) -> list[Unexplained]:
    """The unexplained gaps of a batch, in all its partitions; nothing is written."""
    found: list[Unexplained] = []

    def collect(partition: TopicPartition, gap: UnexplainedGap) -> LossCause:
        found.append((partition, gap))
        return LossCause(gap.cause, actor="")

    doubt = doubt_about_topics(resources, batch, decided=True)
    count_batch(resources, lane, batch, collect, doubt)
    return found


def _require_all_match(
    pipeline: str,
    gaps: Sequence[OffsetRange],
    found: Sequence[Unexplained],
) -> None:
    others = [each for each in gaps if not any(_covers(each, *gap) for gap in found)]
    if others:
        raise GapUnexplained(
            as_lines(
                [
                    *(_not_found(each, found) for each in others),
                    f"{pipeline}: unexplained in batches without a receipt:"
                    f" {'' if found else 'nothing'}",
                    *(f"{partition} {gap}" for partition, gap in found),
                    "Nothing was written. Name the gaps to record as lost.",
                ]
            )
        )


def _not_found(asked: OffsetRange, found: Sequence[Unexplained]) -> str:
    gaps = [OffsetRange(partition, gap.start, gap.end) for partition, gap in found]
    if part := [each for each in gaps if within([asked], [each])]:
        return f"{asked}: expected a whole unexplained gap, found none: name all of {part[0]}"
    return f"{asked}: expected an unexplained gap there, found none"


def _covers(accepted: OffsetRange, partition: TopicPartition, gap: UnexplainedGap) -> bool:
    return (
        accepted.partition == partition and accepted.start <= gap.start and gap.end <= accepted.end
    )
