"""Committed ranges: partition by partition, what the batches that count have read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sluice.offsets.batches import BatchSequence
from sluice.offsets.range_columns import RangeColumns
from sluice.offsets.ranges import TopicIdPartition
from sluice.progress.evidence import CommittedRange, CountedRange

NumberedBatch = tuple[BatchSequence, int]


@dataclass(frozen=True)
class CommittedRanges:
    """The ranges of committed batches, as plans and as receipts state them.

    `planned` are all of them, or only those of batches without a receipt; then the receipts' own
    ranges count for the others. `versions` are those of the batches without a receipt. Batches
    below `first` are there only because others have read their offsets again.
    """

    planned: RangeColumns
    counted: RangeColumns
    settled: Mapping[BatchSequence, int]
    versions: Mapping[NumberedBatch, int]
    first: Mapping[BatchSequence, int] = field(default_factory=dict)
    by_plan: bool = False

    def at(self, place: TopicIdPartition) -> list[CommittedRange]:
        """A partition's ranges in the order they landed."""
        counted = dict(self._counted(place))
        found = list(self._planned(place, counted))
        if not self.by_plan:
            found += [
                self._range(batch, line, version, [line])
                for batch, (version, lines) in counted.items()
                for line in lines
            ]
        return sorted(found, key=lambda each: (each.version, each.generation))

    def _counted(
        self, place: TopicIdPartition
    ) -> Iterator[tuple[NumberedBatch, tuple[int, list[CountedRange]]]]:
        mine = self.counted.at(place)
        found: dict[NumberedBatch, tuple[int, list[CountedRange]]] = {}
        for index in range(len(mine)):
            batch = (mine.sequences[mine.sequence[index]], int(mine.number[index]))
            line = CountedRange(
                mine.range(index), int(mine.records[index]), int(mine.quarantined[index])
            )
            found.setdefault(batch, (int(mine.version[index]), []))[1].append(line)
        yield from found.items()

    def _planned(
        self,
        place: TopicIdPartition,
        counted: Mapping[NumberedBatch, tuple[int, list[CountedRange]]],
    ) -> Iterator[CommittedRange]:
        mine = self.planned.at(place)
        for index in range(len(mine)):
            batch = (mine.sequences[mine.sequence[index]], int(mine.number[index]))
            version, lines = counted.get(batch, (-1, []))
            version = self.versions[batch] if version < 0 else version
            yield self._range(batch, CountedRange(mine.range(index), 0, 0), version, lines)

    def _range(
        self, batch: NumberedBatch, stated: CountedRange, version: int, lines: list[CountedRange]
    ) -> CommittedRange:
        sequence, number = batch
        return CommittedRange(
            batch=sequence.batch(number),
            forward=sequence.lane == "forward",
            generation=sequence.generation,
            offsets=stated.offsets,
            version=version,
            due=number <= self.settled[sequence],
            receipts=lines,
            checked=number >= self.first.get(sequence, 1),
        )
