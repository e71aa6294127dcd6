"""Erased rows: rows that others deleted, and that reading their offsets again brings back. Pure.

Others delete rows for good reasons, privacy above all. So nothing brings them back by the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sluice.errors import RowsErased, as_lines
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.tables.foreign_commits import TableCommit

RowsByPlace = Mapping[TopicIdPartition, Offsets]
"""The offsets of rows by topic id and partition."""


@dataclass(frozen=True)
class RangeToReread:
    """Offsets of a topic id that are to be read again."""

    offsets: OffsetRange
    topic_id: str

    @property
    def place(self) -> TopicIdPartition:
        """The partition as rows name it."""
        return TopicIdPartition(self.topic_id, self.offsets.partition.partition)


@dataclass(frozen=True)
class ErasedRows:
    """Erased rows of one partition: how many, the first and the last."""

    partition: TopicPartition
    rows: int
    first: int
    last: int

    def __str__(self) -> str:
        return (
            f"{self.partition} [{self.first}, {self.last + 1}): {format_count(self.rows, 'row')}"
            " that others deleted would come back"
        )


@dataclass(frozen=True)
class Erased:
    """The erased rows among offsets to be read again; falsy where there are none.

    `unknown` are deletions that may have touched these offsets, although it can no longer be
    told which rows they removed.
    """

    known: tuple[ErasedRows, ...] = ()
    unknown: tuple[TableCommit, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.known or self.unknown)

    @property
    def rows(self) -> int:
        """How many are known."""
        return sum(each.rows for each in self.known)

    @property
    def lines(self) -> Iterator[str]:
        """What would come back, one line for each partition and each unknown deletion."""
        yield from map(str, self.known)
        for each in self.unknown:
            yield (
                f"version {each.version} of the data table is a {each.operation} by others: rows"
                " that it deleted may come back; which ones is no longer known"
            )

    def require_allowed(self, pipeline: str, bring_back: bool) -> None:
        """Raises RowsErased, unless they are to come back."""
        if not self or bring_back:
            return
        raise RowsErased(
            as_lines(
                [
                    f"{pipeline}: expected offsets of which nobody deleted rows, found:",
                    *self.lines,
                    "Nothing was changed. If they are to come back, say so: --bring-back-erased,"
                    " or `bring_back_erased` in the form of a run; otherwise leave these offsets"
                    " out.",
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
    for place, partition in sorted({each.place: each.offsets.partition for each in again}.items()):
        gone = removed.get(place, NO_ROWS.offsets)
        found = np.setdiff1d(gone, present.get(place, NO_ROWS.offsets))
        if len(found):
            yield ErasedRows(partition, len(found), int(found[0]), int(found[-1]))
