"""Skip rules: which offsets may be skipped, and the losses that record it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sluice.errors import SettingsError, as_lines
from sluice.offsets.batches import Batch, Cursor, PlannedRange
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Skipped
from sluice.offsets.partition_log import Logs
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.resets import Reset, closed_unread, preview_id
from sluice.positions.position import require_partitions


@dataclass(frozen=True)
class Skip:
    """A plan around some offsets.

    `reset` first closes the generation of the `unfinished` batches, which would have read them;
    `interrupted` is one that is finished before the skip is decided again.
    The plan is falsy if all requested offsets are already skipped.
    """

    pipeline: str
    plan: Plan
    skips: tuple[Skipped, ...]
    unfinished: tuple[Batch, ...] = ()
    reset: Reset | None = None
    interrupted: Reset | None = None
    done: bool = False

    @property
    def preview(self) -> str:
        """A short id of the decision: the skipped offsets, and where reading continues.

        The same before and after a crash behind the reset. How far the plan reads is not in it.
        """
        if not self.plan:
            return "done"
        first = self.plan.batches[0]
        starts = [f"{each.offsets.partition} {each.offsets.start}" for each in first.ranges]
        holes = [str(each.offsets) for each in self.skips]
        return preview_id(first.sequence.generation, first.number - 1, [*starts, *holes])

    @property
    def summary(self) -> str:
        """The skips, the closed batches and the plan, one line each."""
        lines = [f"  {each}" for each in self.skips]
        if self.interrupted:
            lines.append(f"  {self.interrupted.interruption}: it is finished first")
        if self.reset is not None:
            lines += [f"  {each}" for each in closed_unread(self.unfinished)]
        for batch in self.plan.batches:
            read = ", ".join(str(each.offsets) for each in batch.ranges if each.offsets.span)
            lines.append(f"  {batch}: {read or 'no offsets yet'}")
        return "\n".join(lines)


def one_offset(partition: TopicPartition, offset: int) -> OffsetRange:
    """One offset as a range."""
    return OffsetRange(partition, offset, offset + 1)


def skip_losses(
    positions: Mapping[TopicPartition, int], cursor: Cursor, logs: Logs, actor: str, reason: str
) -> tuple[Skipped, ...]:
    """The losses to record for offsets that are still to be read.

    Raises SettingsError for any that are committed, deleted, not readable yet, or of no partition.
    """
    require_partitions(positions, logs)
    refused = [
        f"{partition}@{offset}: {why}"
        for partition, offset in sorted(positions.items())
        if (why := _refusal(offset, cursor.get(partition), partition, logs))
    ]
    if refused:
        raise SettingsError(as_lines([*refused, "Nothing was changed."]))
    return tuple(
        Skipped(
            one_offset(partition, offset),
            logs[partition].topic_id,
            LossCause(LossKind.SKIPPED, actor, reason),
        )
        for partition, offset in sorted(positions.items())
    )


def _refusal(offset: int, last: PlannedRange | None, partition: TopicPartition, logs: Logs) -> str:
    log = logs[partition]
    if last is not None and offset < last.offsets.end:
        return f"expected an offset that is not committed, found the cursor at {last.offsets.end}"
    if offset < log.log_start_offset:
        return f"expected an offset that Kafka holds, found the log start {log.log_start_offset}"
    if offset >= log.last_stable_offset:
        return f"expected an offset that can be read, found the LSO {log.last_stable_offset}"
    return ""


def still_ahead(skips: Iterable[Skipped], cursor: Cursor) -> list[Skipped]:
    """The skips that no committed batch has passed yet."""
    return [
        each
        for each in skips
        if (last := cursor.get(each.offsets.partition)) is not None
        and each.topic_id == last.topic_id
        and each.offsets.start >= last.offsets.end
    ]


def merge_skips(carried: Sequence[Skipped], new: Sequence[Skipped]) -> tuple[Skipped, ...]:
    """All skips, each once; one recorded before keeps its cause."""
    found = {each.offsets: each for each in [*new, *carried]}
    return tuple(found[offsets] for offsets in sorted(found))
