"""Group lag: how far the consumer group that mirrors the cursor is away from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import TopicPartition


@dataclass(frozen=True)
class GroupLag:
    """Offsets from the group to the cursor, below 0 where it is ahead, by partition that differs.

    `unknown` says why the group could not be read; else it is empty.
    """

    group: str
    distances: Mapping[TopicPartition, int] = field(default_factory=dict)
    unknown: str = ""

    @property
    def behind(self) -> int | None:
        """Offsets that the group is behind the cursor."""
        return None if self.unknown else sum(each for each in self.distances.values() if each > 0)

    @property
    def ahead(self) -> int | None:
        """Offsets that the group is ahead of the cursor: a reset that it has not followed yet."""
        return None if self.unknown else -sum(each for each in self.distances.values() if each < 0)

    @property
    def partitions(self) -> int | None:
        """The partitions in which the group is not at the cursor."""
        return None if self.unknown else len(self.distances)

    def __str__(self) -> str:
        named = f"consumer group {self.group}"
        if self.unknown:
            return f"{named}: how far it is behind the cursor is unknown: {self.unknown}"
        if not self.distances:
            return f"{named}: at the cursor"
        counts = {"behind": self.behind, "ahead of": self.ahead}
        told = " and ".join(
            f"{format_count(number, 'offset')} {where}"
            for where, number in counts.items()
            if number
        )
        places = format_count(self.partitions, "partition")
        return f"{named}: {told or 'not at'} the cursor, in {places}. The next run moves it."


def group_lag(
    group: str,
    cursor: Mapping[TopicPartition, int],
    held: Mapping[TopicPartition, int | None],
    log_starts: Mapping[TopicPartition, int],
) -> GroupLag:
    """Compare a group's offsets with the cursor; where it has none, it is at the log start."""
    return GroupLag(
        group,
        {
            each: end - (log_starts[each] if at is None else at)
            for each, end in cursor.items()
            if (at := held[each]) != end
        },
    )
