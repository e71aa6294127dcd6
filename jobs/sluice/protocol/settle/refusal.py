"""The refusal to write a receipt: what is not accounted for, and the commands that lead on."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.errors import GapUnexplained, as_lines
from sluice.moves import YOUR_WORDS, Move, Part, advice, options
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
    lines: list[Part] = [f"{partition} {gap}" for partition, gap in found[:_RANGES_NAMED]]
    if more := len(found) - len(lines):
        lines.append(f"… and {more} more ranges")
    count = sum(gap.span for _, gap in found)
    because = f": {doubt}" if doubt else ""
    lines.insert(0, f"{batch}: {count} offsets are not accounted for{because}; expected 0:")
    held = [each for each in found if each[1].cause is LossKind.PRESENT]
    if held:
        reread = Move("reprocess", (pipeline, *options("--range", _ranges(held))))
        lines.append(
            advice(
                "Kafka still holds some of them: ",
                reread,
                " reads them again, and the receipt follows.",
            )
        )
    gone = [each for each in found if each[1].cause in BY_POLICY]
    accepted = options("--accept-gap", _ranges(found))
    lines.append(
        advice(
            "Find the cause. Then ",
            Move("verify", (pipeline, *accepted, "--reason", YOUR_WORDS)),
            " records what is left as lost, and goes on",
            "; `on_data_loss: record` in the spec does so for all that is gone." if gone else ".",
        )
    )
    return GapUnexplained(as_lines(lines))


def _ranges(found: Sequence[tuple[TopicPartition, UnexplainedGap]]) -> Sequence[OffsetRange]:
    """The range of each gap; of each partition, from first to last, where there are many."""
    ranges = [OffsetRange(at, gap.start, gap.end) for at, gap in found]
    if len(ranges) > _RANGES_NAMED:
        ranges = merged(ranges, bridging=_ANY_DISTANCE)
    return ranges
