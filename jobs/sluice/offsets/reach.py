"""Reach: what the generations that resets closed have committed of each partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sluice.offsets.batches import Batch, PlannedRange
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

    def with_generation(self, closing: Reset, batches: Iterable[Batch]) -> Reach:
        """With one more generation: its last planned batch, and the last one that counts.

        Up to where it was committed, not up to where it counts: a RESTORE may bring back rows that
        a reset has given up. The topic ids are those of its batches: the reset may name new ones.
        """
        by_number = {each.number: each for each in batches}
        if not by_number and not closing.closed_at["forward"]:
            return self
        committed = {each.partition: each.before for each in closing.cursor}
        # Of batches that a recovery could not bring back, its own reset tells.
        last = by_number[max(by_number)].by_partition if by_number else closing.by_partition
        ends = dict(self.ends)
        for partition, planned in last.items():
            place = (planned.topic_id, partition)
            ends[place] = max(ends.get(place, 0), committed.get(partition) or 0)
        return Reach(ends, by_number.get(closing.closed_at["forward"], self.newest))


NO_REACH = Reach()
