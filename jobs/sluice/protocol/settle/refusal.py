"""The refusal to write a receipt: what is not accounted for, and the commands that lead on."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.errors import GapUnexplained, as_lines
from sluice.offsets.batches import Batch
from sluice.offsets.loss_causes import BY_POLICY, LossKind
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged
from sluice.protocol.settle.gaps import UnexplainedGap

_RANGES_NAMED = 20
_ANY_DISTANCE = 2**63


def unexplained_gaps(
    batch: Batch, found: Sequence[tuple[TopicPartition, UnexplainedGap]], doubt: str = ""
) -> GapUnexplained:
    """The refusal to write a batch's receipt, with the command that closes it all the same."""
    pipeline = batch.sequence.pipeline
    lines = [f"{partition} {gap}" for partition, gap in found[:_RANGES_NAMED]]
    if more := len(found) - len(lines):
        lines.append(f"… and {more} more ranges")
    count = sum(gap.span for _, gap in found)
    because = f": {doubt}" if doubt else ""
    lines.insert(0, f"{batch}: {count} offsets are not accounted for{because}; expected 0:")
    held = [each for each in found if each[1].cause is LossKind.PRESENT]
    if held:
        lines.append(
            f"Kafka still holds some of them: `sluice reprocess {pipeline}"
            f"{_options('--range', held)}` reads them again, and the receipt follows."
        )
    gone = [each for each in found if each[1].cause in BY_POLICY]
    lines.append(
        f"Find the cause. Then `sluice verify {pipeline}{_options('--accept-gap', found)}"
        " --reason …` records what is left as lost, and goes on"
        + ("; `on_data_loss: record` in the spec does so for all that is gone." if gone else ".")
    )
    return GapUnexplained(as_lines(lines))


def _options(option: str, found: Sequence[tuple[TopicPartition, UnexplainedGap]]) -> str:
    """The option for each gap; for each partition, from first to last, where there are many."""
    ranges = [OffsetRange(at, gap.start, gap.end) for at, gap in found]
    if len(ranges) > _RANGES_NAMED:
        ranges = merged(ranges, bridging=_ANY_DISTANCE)
    return "".join(f" {option} '{each}'" for each in ranges)
