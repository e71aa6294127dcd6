"""What a verification is asked for: everything that is committed, or what was since a moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.range_columns import OffsetScope, RangeColumns
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.resets import Resets
from sluice.progress.committed import committed_since, sequence_ends
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd


@dataclass(frozen=True)
class Asked:
    """The batches in question: in each sequence those from `first` on.

    `names` are their partitions, `rows` how many rows the data table has there; `ranges` are their
    offsets, None where all offsets are in question. What others did `above` that version of the
    data table matters. `starts` say where a sequence goes on whose first batches are not asked for.
    """

    first: Mapping[BatchSequence, int]
    batches: int
    unsettled: tuple[Batch, ...]
    names: Mapping[TopicIdPartition, TopicPartition]
    rows: Mapping[TopicIdPartition, int]
    ranges: OffsetScope | None = None
    above: int = -1
    starts: Mapping[int, Mapping[TopicPartition, int]] | None = None

    @property
    def sizes(self) -> Mapping[TopicIdPartition, int]:
        """About how many rows and ranges the proof of each partition reads."""
        return {place: self.rows.get(place, 0) + self.batches for place in self.names}

    def scope(self, places: Iterable[TopicIdPartition]) -> OffsetScope:
        """The offsets in question of some of the partitions."""
        if self.ranges is None:
            return OffsetScope.whole(places)
        return OffsetScope({each: self.ranges.places[each] for each in places})

    def openings(
        self, resets: Resets, place: TopicIdPartition, partition: TopicPartition
    ) -> dict[int, int | None]:
        """Where the first batch in question of each generation must start; None: unknown."""
        openings: dict[int, int | None] = {}
        for generation, reset in resets.by_generation.items():
            after = reset.by_partition.get(partition)
            if after is not None and after.topic_id == place.topic_id:
                openings[generation] = after.offsets.start
        for generation, starts in (self.starts or {}).items():
            openings[generation] = starts.get(partition)
        return openings


def asked_of(lane: LaneState, since: datetime | None) -> Asked:
    """Everything, or the batches committed since a moment and their offsets."""
    ends = [each for each in sequence_ends(lane) if each.last]
    first = committed_since(lane, since) if since is not None else {}
    numbers = {each.sequence: (first.get(each.sequence, 1), each.last) for each in ends}
    batches = sum(last - begin + 1 for begin, last in numbers.values())
    unsettled = tuple(_unsettled(lane, ends))
    if since is None:
        names = lane.snapshot.columns.places("planned")
        return Asked({}, batches, unsettled, names, lane.data.row_counts())
    found = lane.snapshot.columns.ranges("planned", numbers)
    counted = lane.snapshot.columns.ranges("committed", numbers)
    newest = lane.data.version if lane.data.version is not None else -1
    scope = OffsetScope.of_ranges(_ranges(found))
    return Asked(
        first,
        batches,
        unsettled,
        dict(found.places),
        lane.data.row_counts(scope),
        scope,
        min([*counted.version.tolist(), newest + 1]) - 1 if not unsettled else -1,
        {
            sequence.generation: _ends_before(lane, sequence, begin)
            for sequence, (begin, _) in numbers.items()
            if sequence.lane == "forward" and begin > 1
        },
    )


def _unsettled(lane: LaneState, ends: Iterable[SequenceEnd]) -> Iterable[Batch]:
    for each in ends:
        settled = lane.snapshot.settled(each.sequence)
        # Batches whose rows alone a recovery found will never have a receipt.
        yield from lane.snapshot.batches(each.sequence, settled + 1, last=each.last)


def _ranges(found: RangeColumns) -> dict[TopicIdPartition, list[OffsetRange]]:
    ranges: dict[TopicIdPartition, list[OffsetRange]] = {place: [] for place, _ in found.places}
    for index in range(len(found)):
        ranges[found.places[found.place[index]][0]].append(found.range(index))
    return ranges


def _ends_before(
    lane: LaneState, sequence: BatchSequence, number: int
) -> Mapping[TopicPartition, int]:
    """None are known where the batch before is from before a recovery, which found only rows."""
    found = lane.snapshot.batches(sequence, number - 1, last=number - 1)
    return {at: each.offsets.end for before in found for at, each in before.by_partition.items()}
