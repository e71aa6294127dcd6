"""Reach: what the generations that resets closed have committed of each partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sluice.offsets.batches import Batch, Cursor, PlannedRange
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import Reset


@dataclass(frozen=True)
class Reach:
    """What the forward lane has committed in the generations before.

    `ends` says up to where, by topic id and partition; `newest` is the last batch that counts, None
    if there is none.
    """

    ends: Mapping[tuple[str, TopicPartition], int] = field(default_factory=dict)
    newest: Batch | None = None

    def covers(self, planned: PlannedRange) -> bool:
        """Whether some of the offsets may be in the table already."""
        place = (planned.topic_id, planned.offsets.partition)
        return bool(planned.offsets.span) and planned.offsets.start < self.ends.get(place, 0)

    def with_generation(
        self, closing: Reset, batches: Iterable[Batch], opening: Reset | None = None
    ) -> Reach:
        """With one more generation: its last planned batch, and the last one that counts.

        Up to where it was committed, not up to where it counts: a RESTORE may bring back rows that
        a reset has given up. The topic ids are those of its batches: the reset may name new ones.
        Where it has none, backfills may have filled it up to where a reset opened it.
        """
        by_number = {each.number: each for each in batches}
        committed = {each.partition: each.before for each in closing.cursor}
        last = _last(by_number, opening, closing)
        ends = dict(self.ends)
        for partition, planned in last.items():
            place = (planned.topic_id, partition)
            ends[place] = max(ends.get(place, 0), committed.get(partition) or 0)
        counted = by_number.get(closing.closed_at["forward"])
        for partition, planned in (counted.by_partition if counted else {}).items():
            # Above where a reset closed it, where the table turned out to hold more.
            place = (planned.topic_id, partition)
            ends[place] = max(ends.get(place, 0), planned.offsets.end)
        return Reach(ends, counted or self.newest)


def _last(by_number: Mapping[int, Batch], opening: Reset | None, closing: Reset) -> Cursor:
    """The topic ids that a generation has read, or was to read."""
    if by_number:
        return by_number[max(by_number)].by_partition
    if opening is not None:
        return opening.by_partition
    # The reset of a recovery knows the batches that it could not bring back. A backfill's rows may
    # be the only ones left in a copy.
    return closing.by_partition if any(closing.closed_at.values()) else {}


NO_REACH = Reach()
