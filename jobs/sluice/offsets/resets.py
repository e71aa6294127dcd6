"""Resets: each closes a generation of both lanes and says where the next one starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

from sluice.errors import PreviewOutdated
from sluice.moves import Advice, Move, advice, options
from sluice.offsets.batches import Batch, BatchSequence, Lane, PlannedRange
from sluice.offsets.damage import rows_removed
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import OffsetRange, TopicPartition

LANES: tuple[Lane, Lane] = ("forward", "backfill")


def both_lanes(sequence: BatchSequence) -> list[BatchSequence]:
    """The sequences of both lanes, of the same generation."""
    return [replace(sequence, lane=lane) for lane in LANES]


def sequences_up_to(
    pipeline: str, generation: int, lanes: Sequence[Lane] = LANES
) -> list[BatchSequence]:
    """The lanes of each generation up to this one, in order."""
    numbers = range(1, generation + 1)
    return [BatchSequence(pipeline, lane, number) for number in numbers for lane in lanes]


@dataclass(frozen=True)
class CursorMove:
    """One partition: the cursor before, and after as the empty range `[after, after)`.

    `before` is None for a partition that had no cursor. `requested` is set where the requested
    offset lies outside Kafka's log, and `anew` where the cursor before is of another topic of the
    name; neither is recorded.
    """

    after: PlannedRange
    before: int | None = None
    requested: int | None = field(default=None, compare=False)
    anew: bool = field(default=False, compare=False)

    @property
    def partition(self) -> TopicPartition:
        """The partition whose cursor moves."""
        return self.after.offsets.partition

    @property
    def skipped(self) -> int:
        """Number of offsets skipped."""
        return max(0, self._shift)

    @property
    def passed_over(self) -> OffsetRange:
        """The offsets skipped; empty where there are none."""
        end = self.after.offsets.start
        return OffsetRange(self.partition, end - self.skipped, end)

    @property
    def reread(self) -> int:
        """Number of offsets read again."""
        return max(0, -self._shift)

    @property
    def clipping(self) -> str | None:
        """How the requested offset was clipped to Kafka's log; None where it was not."""
        if self.requested is None:
            return None
        held = f"[{self.after.log_start_offset}, {self.after.last_stable_offset})"
        clipped = f"requested {self.requested}, clipped to {self.after.offsets.start}"
        return f"{self.partition}: {clipped} (Kafka holds {held})"

    @property
    def _shift(self) -> int:
        after = self.after.offsets.start
        if self.anew:
            return after - min(after, self.after.log_start_offset)
        return after - (after if self.before is None else self.before)


@dataclass(frozen=True)
class Reset:
    """Closes a generation and opens the next one, which is `generation`.

    `closed_at` numbers the last batch of each lane that counts; `data_version` and `data_table_id`
    are the version and the Delta id of the data table it was decided on. `earlier` are resets
    written again with it, as fewer of their batches count: the table was put back behind them.
    `recorded` is set on resets read back from the table. `towards` names a target that moves with
    the log, such as the log's end; it is not recorded.
    """

    pipeline: str
    generation: int
    closed_at: Mapping[Lane, int]
    cursor: tuple[CursorMove, ...]
    cluster_id: str
    data_version: int
    reason: str
    data_table_id: str | None = None
    done: bool = False
    earlier: tuple[Reset, ...] = field(default=(), compare=False)
    recorded: Origin | None = field(default=None, compare=False)
    towards: str = field(default="", compare=False)

    @property
    def preview(self) -> str:
        """A short name for the decision: generation, last batch, digest of the rest.

        Where the target moves with the log it stands for itself: its offsets are those of the
        moment when it is carried out.
        """
        moves = [
            f"{each.partition} {each.after.topic_id} {each.before}"
            f" {self.towards or each.after.offsets.start}"
            for each in self.cursor
        ]
        last = self.closed_at["forward"]
        return preview_id(self.generation, last, [str(self.closed_at["backfill"]), *moves])

    @property
    def last_before(self) -> str:
        """A sentence that names the last batch of the previous generation."""
        last = self.closes[0].batch(self.closed_at["forward"])
        said = f"{last} is the last batch of the generation before."
        if not self.earlier:
            return said
        before = self.earlier[0].closes[0].batch(self.earlier[0].closed_at["forward"])
        return f"{said} Of earlier ones the table holds {before}, and what came before that."

    @property
    def interruption(self) -> str:
        """Words for a reset that was intended and is not done."""
        return f"the reset to generation {self.generation} ({self.reason}) was interrupted"

    @property
    def stays(self) -> bool:
        """Whether every cursor stays where it is."""
        return not any(each.skipped or each.reread or each.anew for each in self.cursor)

    @property
    def closes(self) -> tuple[BatchSequence, ...]:
        """The sequences that it closes."""
        return tuple(BatchSequence(self.pipeline, lane, self.generation - 1) for lane in LANES)

    @property
    def starts(self) -> Mapping[TopicPartition, int]:
        """The first offset that the new generation reads, by partition."""
        return {each.partition: each.after.offsets.start for each in self.cursor}

    @cached_property
    def by_partition(self) -> Mapping[TopicPartition, PlannedRange]:
        """Where the new generation starts, by partition."""
        return {each.partition: each.after for each in self.cursor}


@dataclass(frozen=True)
class Resets:
    """Every recorded reset of a pipeline, by the generation that it opens, from 2 on.

    Where a generation has several intended resets, the one that was done counts, else the latest.
    """

    by_generation: Mapping[int, Reset]

    @property
    def newest(self) -> Reset | None:
        """The latest one."""
        return self.by_generation[max(self.by_generation)] if self.by_generation else None

    @property
    def interrupted(self) -> Reset | None:
        """The latest one, if it was intended and is not done."""
        return self.newest if self.newest and not self.newest.done else None

    def up_to(self, generation: int) -> list[Reset]:
        """Those that open a generation up to this one."""
        return [each for number, each in self.by_generation.items() if number <= generation]

    def closed_at(self, sequence: BatchSequence) -> int:
        """The last batch of a closed sequence that counts.

        Raises OffsetsDamaged when no reset recorded it.
        """
        closing = self.by_generation.get(sequence.generation + 1)
        if closing is None:
            raise rows_removed(
                sequence.pipeline,
                f"{sequence.app_id} is closed in the data table; expected the reset that closed it,"
                " found none",
            )
        return closing.closed_at[sequence.lane]

    def closed_elsewhere(self, last: Mapping[BatchSequence, int]) -> Iterator[Reset]:
        """The resets that closed a sequence at another batch than its last one in the table."""
        for _, each in sorted(self.by_generation.items()):
            ends = {
                closed.lane: last.get(closed, each.closed_at[closed.lane]) for closed in each.closes
            }
            if ends != each.closed_at:
                yield replace(each, closed_at=ends)

    def lowered(self, last: Mapping[BatchSequence, int]) -> Iterator[Reset]:
        """The resets behind which the table was put back, closed where its rows end."""
        closes = (closed for each in self.by_generation.values() for closed in each.closes)
        known = [each for each in closes if each in last]
        return self.closed_elsewhere(
            {each: min(last[each], self.closed_at(each)) for each in known}
        )


def closed_unread(unfinished: Iterable[Batch]) -> Iterator[str]:
    """What a reset does to planned batches that are not committed, one sentence per lane."""
    then = {
        "forward": "their offsets from the new cursor on are planned again",
        "backfill": "request the backfill again",
    }
    for lane, batches in groupby(unfinished, key=lambda each: each.sequence.lane):
        yield f"{', '.join(map(str, batches))}: closed without being ingested; {then[lane]}"


def undone_backfills(pipeline: str, batches: Iterable[Batch]) -> Iterator[Advice]:
    """What leads back to backfills that a RESTORE has undone, one sentence for each."""
    for each in batches:
        ranges = each.only or [e.offsets for e in each.ranges if e.offsets.span]
        yield advice(
            f"{each}: undone, and no cursor leads back to it. If it is still wanted: ",
            Move("reprocess", (pipeline, *options("--range", ranges))),
        )


def preview_id(generation: int, last: int, rest: Iterable[str]) -> str:
    """The name of a preview, such as `2-41-9f3a1c07`; the same for the same decision."""
    digest = hashlib.sha256("\n".join(rest).encode()).hexdigest()
    return f"{generation}-{last}-{digest[:8]}"


def require_as_previewed(previewed: str, now: str, would_do: str) -> None:
    """Raises PreviewOutdated, naming both, unless the plan is still the one previewed."""
    if previewed != now:
        raise PreviewOutdated(
            f"the plan changed since the preview: expected {previewed}, found {now}:\n{would_do}"
            "\n(An id is generation, last batch of the one before, digest of the cursors.) Nothing"
            " was changed. Look at the preview again."
        )
