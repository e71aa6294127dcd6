"""Erased rows: what others deleted or changed, and reading the offsets again brings back. Pure.

Others do it for good reasons, privacy above all. So nothing undoes it by the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.errors import RowsErased, as_lines
from sluice.moves import Move, advice
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.tables.foreign_commits import TableCommit

RowsByPlace = Mapping[TopicIdPartition, Offsets]
"""The offsets of rows by topic id and partition."""

_CONSENT = "--bring-back-erased, or `bring_back_erased` in the form of a run"


@dataclass(frozen=True)
class RangeToReread:
    """Offsets of a topic id that are to be read again."""

    offsets: OffsetRange
    topic_id: str

    @property
    def place(self) -> TopicIdPartition:
        """The partition as rows name it."""
        return self.offsets.partition.of(self.topic_id)


@dataclass(frozen=True)
class ErasedRows:
    """Rows of one partition that others deleted: how many, the first and the last."""

    partition: TopicPartition
    rows: int
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self._place} that others deleted would come back"

    @property
    def _place(self) -> str:
        where = f"{self.partition} [{self.first}, {self.last + 1})"
        return f"{where}: {format_count(self.rows, 'row')}"


@dataclass(frozen=True)
class ChangedRows(ErasedRows):
    """Rows of one partition that others gave other values: how many, the first and the last."""

    def __str__(self) -> str:
        return f"{self._place} that others changed would be again as they were read"


@dataclass(frozen=True)
class Erased:
    """What others did to rows among offsets to be read again; falsy where that is nothing.

    `known` are deleted rows, `changed` those with other values. `unknown` are commits that may
    have touched these offsets, although it is no longer known which rows they removed.
    """

    known: tuple[ErasedRows, ...] = ()
    unknown: tuple[TableCommit, ...] = ()
    changed: tuple[ChangedRows, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.known or self.unknown or self.changed)

    @property
    def rows(self) -> int:
        """How many deleted rows are known."""
        return sum(each.rows for each in self.known)

    @property
    def changed_rows(self) -> int:
        """How many changed rows are known."""
        return sum(each.rows for each in self.changed)

    @property
    def lines(self) -> Iterator[str]:
        """What would be undone, one line for each partition and each unknown commit."""
        yield from map(str, (*self.known, *self.changed))
        for each in self.unknown:
            yield (
                f"version {each.version} of the data table is a {each.operation} by others: rows"
                " that it deleted or changed may come back as they were; which ones is no longer"
                " known"
            )

    @property
    def remarks(self) -> Iterator[str]:
        """The same, and that none of it happens without consent."""
        yield from self.lines
        if self:
            yield f"It is refused unless they may come back: {_CONSENT}."

    def require_allowed(self, pipeline: str, bring_back: bool) -> None:
        """Raises RowsErased, unless they are to come back."""
        if not self or bring_back:
            return
        raise RowsErased(
            as_lines(
                [
                    f"{pipeline}: expected offsets without deleted or changed rows, found:",
                    *self.lines,
                    f"Nothing was changed. If they are to come back, say so: {_CONSENT}; otherwise"
                    " leave these offsets out.",
                ]
            )
        )


def require_consent(
    pipeline: str, lines: Sequence[str], bring_back: bool, allowed: Move, otherwise: str
) -> None:
    """Raises RowsErased, unless what is deleted, or may be, is to come back."""
    if not lines or bring_back:
        return
    raise RowsErased(
        as_lines(
            [
                f"{pipeline}: expected offsets without deleted rows, found:",
                *lines,
                advice(
                    "Nothing was changed. If none were deleted, or they may come back: ",
                    allowed,
                    f"; {otherwise}",
                ),
            ]
        )
    )


def rows_among(again: Iterable[RangeToReread], rows: Iterable[RowsByPlace]) -> RowsByPlace:
    """Those of the rows that are in the ranges, ascending, each once."""
    found: dict[TopicIdPartition, Offsets] = {}
    for stored in rows:
        for each in again:
            offsets = stored.get(each.place, NO_ROWS.offsets)
            inside = (offsets >= each.offsets.start) & (offsets < each.offsets.end)
            earlier = found.get(each.place, NO_ROWS.offsets)
            found[each.place] = np.union1d(earlier, offsets[inside])
    return {place: offsets for place, offsets in found.items() if len(offsets)}


def erased_rows(
    again: Iterable[RangeToReread], removed: RowsByPlace, present: RowsByPlace
) -> Iterator[ErasedRows]:
    """The removed rows that are not in the table now, by partition."""
    for place, partition in _partitions(again):
        gone = removed.get(place, NO_ROWS.offsets)
        found = np.setdiff1d(gone, present.get(place, NO_ROWS.offsets))
        if len(found):
            yield ErasedRows(partition, len(found), int(found[0]), int(found[-1]))


def changed_rows_among(
    again: Iterable[RangeToReread], changed: RowsByPlace
) -> Iterator[ChangedRows]:
    """The changed rows, by partition."""
    for place, partition in _partitions(again):
        found = changed.get(place, NO_ROWS.offsets)
        if len(found):
            yield ChangedRows(partition, len(found), int(found[0]), int(found[-1]))


def _partitions(
    again: Iterable[RangeToReread],
) -> list[tuple[TopicIdPartition, TopicPartition]]:
    return sorted({each.place: each.offsets.partition for each in again}.items())
