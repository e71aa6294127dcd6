"""A quarantined record: a row of the quarantine table without its value, and its state. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sluice.offsets.batches import BatchSequence
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, merged

# What differs from record to record: quoted values, positions, addresses. Column names and type
# sizes, such as price_2 and DECIMAL(5,2), stay as they are, as do what JsonConverted says and the
# byte that a frame begins with.
_QUOTED = re.compile(r"""(?<!\w)(?<!The one column )(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)""")
_NUMBER = re.compile(
    r"(?<![\w(,.-])(?<!expected the byte )-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)(?![\w)])"
)
# What a misfit of decoding says (jobs/jvm): the JSON text of a value, possibly cut, ends the error,
# or is followed only by what the record's bytes begin like.
_FOUND = re.compile(
    r"(: expected .*?, found )(\S.*?)( \(the value begins like [^()]+\))?\Z", re.DOTALL
)
_KINDS = {'"': "'…'", "{": "{…}", "[": "[…]", **dict.fromkeys("-0123456789", "N")}
_MAX_LENGTH = 200


class RecordState(StrEnum):
    """Whether a row counts, and why not."""

    LIVE = "live"
    WAITING = "waiting"
    """Its batch is planned but not committed: it counts once the batch is."""
    SUPERSEDED = "superseded"
    """A later batch has read the offset again."""
    ERASED = "erased"
    """The same, and others have deleted the row that it became: it is gone for good."""
    UNDONE = "undone"
    """A reset closed the generation before its batch."""
    DROPPED = "dropped"
    """The operator dropped it."""


@dataclass(frozen=True, order=True)
class QuarantinedRecord:
    """One undecodable record. `superseded_in` is the data table's version that superseded it."""

    partition: TopicPartition
    offset: int
    topic_id: str
    batch: str
    error: str
    quarantined_at: datetime
    state: RecordState = RecordState.LIVE
    superseded_in: int | None = None

    @property
    def place(self) -> TopicIdPartition:
        """The partition as rows name it."""
        return self.partition.of(self.topic_id)

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"


@dataclass(frozen=True)
class BatchOffsets:
    """Consecutive offsets of one batch in the quarantine table."""

    batch: str
    topic_id: str
    offsets: OffsetRange


@dataclass(frozen=True)
class RecordFilter:
    """Which rows the operator selects; an empty field selects all."""

    reason_like: str = ""
    batch: str = ""
    positions: Collection[tuple[TopicPartition, int]] = ()

    def __contains__(self, row: QuarantinedRecord) -> bool:
        return (
            self._is_like(row.error)
            and self.batch in ("", row.batch)
            and (not self.positions or (row.partition, row.offset) in self.positions)
        )

    def _is_like(self, error: str) -> bool:
        """Whether the text is in the error, or in the reason that `quarantine list` shows of it."""
        text = self.reason_like.lower()
        return text in error.lower() or text in error_pattern(error).lower()


def error_pattern(error: str) -> str:
    """The cause without what differs from record to record."""
    brief = _FOUND.sub(_without_value, error)
    return _NUMBER.sub("N", _QUOTED.sub("'…'", brief)).strip()[:_MAX_LENGTH]


def _without_value(misfit: re.Match[str]) -> str:
    before, value, hint = misfit.groups(default="")
    return before + _KINDS.get(value[0], value) + hint


def batch_offsets(rows: Iterable[QuarantinedRecord]) -> list[BatchOffsets]:
    """The offsets of these rows and no others, as few ranges as possible."""
    places: dict[tuple[str, str], list[OffsetRange]] = {}
    for row in rows:
        alone = OffsetRange(row.partition, row.offset, row.offset + 1)
        places.setdefault((row.batch, row.topic_id), []).append(alone)
    return [
        BatchOffsets(batch, topic_id, offsets)
        for (batch, topic_id), found in sorted(places.items())
        for offsets in merged(found)
    ]


@dataclass(frozen=True)
class Drop:
    """The losses to record, and the quarantine rows to delete once those are durable.

    `rows` are those of the losses plus any that an interrupted drop left behind. `above_cursor` of
    the chosen are read again by the next run, as a reset went back before them.
    """

    sequence: BatchSequence
    cluster_id: str
    chosen: tuple[QuarantinedRecord, ...]
    losses: tuple[Loss, ...]
    rows: tuple[BatchOffsets, ...]
    above_cursor: int = 0
    done: bool = False
