"""Losses: offsets that were to be read and never will be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sluice.offsets.origin import Recorded
from sluice.offsets.ranges import OffsetRange

SKIPPED_BY = "skipped by "


@dataclass(frozen=True)
class Loss:
    """Offsets that were to be read, and that Kafka does not hold any more.

    Or records that somebody has dropped from quarantine: `dropped_from` is the batch they were of.
    `recorded` is known of those that were read back.
    """

    offsets: OffsetRange
    topic_id: str
    cause: str
    dropped_from: str | None = None
    recorded: Recorded | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return (
            f"{self.offsets.partition}: expected to go on at {self.offsets.start}, found the log"
            f" starting at {self.offsets.end}: {self.offsets.span} offsets lost ({self.cause})"
        )


@dataclass(frozen=True)
class Skipped(Loss):
    """Offsets that somebody decided not to read, although Kafka may hold them."""

    def __str__(self) -> str:
        return f"{self.offsets}: {self.cause}"


def recorded_skips(losses: Iterable[Loss]) -> list[Skipped]:
    """Those of the recorded losses that are skips."""
    return [
        Skipped(each.offsets, each.topic_id, each.cause)
        for each in losses
        if each.cause.startswith(SKIPPED_BY) and each.dropped_from is None
    ]
