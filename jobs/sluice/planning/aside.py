"""Aside: a row of the quarantine table, without its value, and whether it counts. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sluice.planning.ranges import OffsetRange, TopicPartition, merged


class State(StrEnum):
    """Whether a row counts, and why not."""

    LIVE = "live"
    WAITING = "waiting"
    """Its batch is planned and not committed: it may count one day."""
    SUPERSEDED = "superseded"
    """A later batch has read the offset again."""
    UNDONE = "undone"
    """A reset has closed the generation before its batch."""
    DROPPED = "dropped"
    """Somebody has decided to forget it."""


@dataclass(frozen=True, order=True)
class Aside:
    """One undecodable record. `superseded_in` is the version of the data table that did it."""

    partition: TopicPartition
    offset: int
    topic_id: str
    batch: str
    error: str
    quarantined_at: datetime
    state: State = State.LIVE
    superseded_in: int | None = None

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"


@dataclass(frozen=True)
class Stretch:
    """Consecutive offsets of one batch in the quarantine table."""

    batch: str
    topic_id: str
    offsets: OffsetRange


@dataclass(frozen=True)
class Choice:
    """Which rows somebody asks for; what is left empty does not narrow the choice."""

    reason_like: str = ""
    batch: str = ""
    positions: Collection[tuple[TopicPartition, int]] = ()

    def __contains__(self, row: Aside) -> bool:
        return (
            self.reason_like.lower() in row.error.lower()
            and self.batch in ("", row.batch)
            and (not self.positions or (row.partition, row.offset) in self.positions)
        )


def stretches(rows: Iterable[Aside]) -> list[Stretch]:
    """The rows' offsets, as few stretches as there can be, and no others among them."""
    places: dict[tuple[str, str], list[OffsetRange]] = {}
    for row in rows:
        alone = OffsetRange(row.partition, row.offset, row.offset + 1)
        places.setdefault((row.batch, row.topic_id), []).append(alone)
    return [
        Stretch(batch, topic_id, offsets)
        for (batch, topic_id), found in sorted(places.items())
        for offsets in merged(found)
    ]
