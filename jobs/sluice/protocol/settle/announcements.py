"""Announcements: the settled batches that were announced to readers, and those that are due.

An announcement is stored when `settle` has succeeded, and at no other time. So how far they go is
read from the earlier announcements themselves: each says so in `announced`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sluice.offsets.batches import BatchReference, BatchSequence
from sluice.offsets.filtered import as_key
from sluice.offsets.quantities import format_count
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import sequences_up_to

# What one announcement spells out: it is kept in the scheduler's database.
MOST_BATCHES = 200
MOST_RANGES = 100


@dataclass(frozen=True)
class Announced:
    """The last announced batch of each lane of a generation; of earlier ones, all are announced."""

    table_id: str | None
    generation: int
    forward: int
    backfill: int

    def last(self, sequence: BatchSequence) -> int:
        """The last announced batch of a sequence that is not of an earlier generation."""
        if sequence.generation > self.generation:
            return 0
        return self.forward if sequence.lane == "forward" else self.backfill

    def within(self, settled: Announced) -> Announced:
        """No further than what is settled: the tables may have been put back since."""
        if self.generation != settled.generation:
            return min(self, settled, key=lambda each: each.generation)
        return replace(
            self,
            forward=min(self.forward, settled.forward),
            backfill=min(self.backfill, settled.backfill),
        )

    def as_dict(self) -> dict[str, Any]:
        """How far the announcements go, as JSON values."""
        return {
            "table": self.table_id,
            "generation": self.generation,
            "forward": self.forward,
            "backfill": self.backfill,
        }

    @classmethod
    def read(cls, value: object) -> Announced | None:
        """Read it back; None where it is something else."""
        match value:
            case {
                "table": str() | None as table_id,
                "generation": int(generation),
                "forward": int(forward),
                "backfill": int(backfill),
            }:
                return cls(table_id, generation, forward, backfill)
        return None


@dataclass(frozen=True)
class Announcement:
    """Settled batches, and what they bring the announcements to; falsy where there is no news.

    `complete_until`: with them the table has all that Kafka showed before that moment.
    """

    batches: tuple[Mapping[str, Any], ...]
    announced: Announced
    left_out: Mapping[str, int]
    complete_until: datetime | None = None

    def __bool__(self) -> bool:
        return bool(self.batches)

    def __str__(self) -> str:
        unnamed = self.left_out.get("batches", 0)
        return format_count(len(self.batches) + unnamed, "batch", "batches")

    def as_dict(self) -> dict[str, Any]:
        """The announcement as JSON values."""
        return {
            "batches": list(self.batches),
            "complete_until": self.complete_until.isoformat() if self.complete_until else None,
            "announced": self.announced.as_dict(),
            **({"left_out": dict(self.left_out)} if self.left_out else {}),
        }


def announced_so_far(
    told: Iterable[object], settled: Announced, work: BatchReference | None
) -> Announced:
    """How far earlier announcements of this table go, together.

    Where there is none, all that is settled by now counts as known, except the run's own work:
    another scheduler may have announced it, or no reader asked.
    """
    read = [Announced.read(each) for each in told]
    known = [each.within(settled) for each in read if each and each.table_id == settled.table_id]
    if not known:
        return _before(settled, work)
    newest = max(each.generation for each in known)
    alike = [each for each in known if each.generation == newest]
    return Announced(
        settled.table_id,
        newest,
        forward=max(each.forward for each in alike),
        backfill=max(each.backfill for each in alike),
    )


def _before(settled: Announced, work: BatchReference | None) -> Announced:
    if not work or work.sequence.generation != settled.generation:
        return settled
    last = min(settled.last(work.sequence), work.batches[0] - 1)
    if work.sequence.lane == "forward":
        return replace(settled, forward=last)
    return replace(settled, backfill=last)


def sequences_since(before: Announced, newest: BatchSequence) -> list[BatchSequence]:
    """The sequences that may have news: both lanes of each generation since."""
    every = sequences_up_to(newest.pipeline, newest.generation)
    return [each for each in every if each.generation >= before.generation]


def due(before: Announced, settled: Mapping[BatchSequence, int]) -> list[tuple[BatchSequence, int]]:
    """The settled batches that are to be announced, by sequence and number."""
    return [
        (sequence, number)
        for sequence, last in settled.items()
        for number in range(before.last(sequence) + 1, last + 1)
    ]


def announcement_of(
    receipts: Iterable[Receipt],
    announced: Announced,
    unnamed: int,
    complete_until: datetime | None = None,
) -> Announcement:
    """The announcement of these receipts, and of that many batches that are not named."""
    counted: list[dict[str, Any]] = []
    spelled_out: list[dict[str, Any]] = []
    ranges = 0
    for receipt in receipts:
        counted.append(_counts(receipt))
        ranges += sum(1 for line in receipt.counted if line.planned.offsets.span)
        if ranges <= MOST_RANGES:
            spelled_out.append(batch_document(receipt))
    whole = len(spelled_out) == len(counted)
    left_out = {"batches": unnamed, "ranges": 0 if whole else ranges}
    return Announcement(
        tuple(spelled_out if whole else counted),
        announced,
        {what: count for what, count in left_out.items() if count},
        complete_until,
    )


def batch_document(receipt: Receipt) -> dict[str, Any]:
    """A batch with its counts and ranges, as JSON values."""
    ranges = [
        {**line.planned.offsets.as_dict(), "records": line.records}
        for line in receipt.counted
        if line.planned.offsets.span
    ]
    return {**_counts(receipt), "ranges": ranges}


def _counts(receipt: Receipt) -> dict[str, Any]:
    return {
        "batch": str(receipt.batch),
        "data_version": receipt.data_version,
        "records": receipt.records,
        "quarantined": receipt.quarantined,
        **as_key(receipt.filtered),
        "gaps": receipt.gaps,
    }
