"""Committed ranges: partition by partition, what the batches that count have read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.offsets.batches import BatchSequence
from sluice.offsets.range_columns import NumberedBatch, RangeColumns
from sluice.offsets.ranges import OffsetRange, TopicIdPartition


@dataclass(frozen=True)
class CountedRange:
    """A line of a receipt: a range, and how many of its offsets became rows.

    `never` counts its offsets that no reader ever sees a record of: markers and aborted records.
    """

    offsets: OffsetRange
    records: int
    quarantined: int
    never: int = 0
    filtered: int = 0

    @property
    def gaps(self) -> int:
        """How many of its offsets had no record: of all others it became a row, or was filtered."""
        return self.offsets.span - self.records - self.quarantined - self.filtered


@dataclass(frozen=True)
class CommittedRange:
    """The range of one committed batch, and the version of the data table it landed in.

    `due` says whether it must have a receipt by now; `receipts` are those it has. One that is not
    `checked` itself is there because its rows may be among those of others; the version of one
    that is not from `here` is another table's.
    """

    batch: str
    forward: bool
    generation: int
    offsets: OffsetRange
    version: int
    due: bool
    receipts: Sequence[CountedRange]
    checked: bool = True
    here: bool = True

    @property
    def filtered(self) -> int:
        """How many of its records were left out, by its receipts."""
        return sum(line.filtered for line in self.receipts)


@dataclass(frozen=True)
class CommittedRanges:
    """The ranges of committed batches, as plans and as receipts state them.

    `planned` are all of them, or only those of batches without a receipt; then the receipts' own
    ranges count for the others. `versions` are those that the batches landed in. Batches below
    `first` are there only because others have read their offsets again. Those of `elsewhere`
    landed in another table, which a copy has replaced.
    """

    planned: RangeColumns
    counted: RangeColumns
    settled: Mapping[BatchSequence, int]
    versions: Mapping[NumberedBatch, int]
    first: Mapping[BatchSequence, int] = field(default_factory=dict)
    by_plan: bool = False
    elsewhere: Collection[BatchSequence] = ()

    def at(self, place: TopicIdPartition) -> list[CommittedRange]:
        """A partition's ranges in the order they landed."""
        counted = self._counted(place)
        found = list(self._planned(place, counted))
        if not self.by_plan:
            found += [
                self._range(batch, line.offsets, [line])
                for batch, lines in counted.items()
                for line in lines
            ]
        return sorted(found, key=lambda each: (each.generation, each.version))

    def _counted(self, place: TopicIdPartition) -> dict[NumberedBatch, list[CountedRange]]:
        mine = self.counted.at(place)
        found: dict[NumberedBatch, list[CountedRange]] = {}
        for index in range(len(mine)):
            records, quarantined = int(mine.records[index]), int(mine.quarantined[index])
            never = int(mine.control[index] + mine.aborted[index])
            filtered = max(0, int(mine.filtered[index]))
            line = CountedRange(mine.range(index), records, quarantined, never, filtered)
            found.setdefault(mine.batch(index), []).append(line)
        return found

    def _planned(
        self, place: TopicIdPartition, counted: Mapping[NumberedBatch, list[CountedRange]]
    ) -> Iterator[CommittedRange]:
        mine = self.planned.at(place)
        for index in range(len(mine)):
            batch = mine.batch(index)
            yield self._range(batch, mine.range(index), counted.get(batch, []))

    def _range(
        self, batch: NumberedBatch, offsets: OffsetRange, lines: list[CountedRange]
    ) -> CommittedRange:
        sequence, number = batch
        return CommittedRange(
            batch=sequence.batch(number),
            forward=sequence.lane == "forward",
            generation=sequence.generation,
            offsets=offsets,
            version=self.versions[batch],
            due=number <= self.settled[sequence],
            receipts=lines,
            checked=number >= self.first.get(sequence, 1),
            here=sequence not in self.elsewhere,
        )
