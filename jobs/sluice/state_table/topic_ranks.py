"""Topic ranks: in which order the topics that had one name were read, as far as it is known. Pure.

A topic that is read again behind a later one of its name has two places: what it held when it was
left is older than the later one's records; what it has got since may be newer or older.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sluice.offsets.batches import PlannedRange

Read = tuple[Sequence[PlannedRange], Sequence[PlannedRange]]
"""What a generation has read, by its first plan and by its last one."""


@dataclass(frozen=True)
class Stint:
    """The generations, one after another, that have read one topic under its name.

    `ends` are the offsets up to which its partitions were planned.
    """

    topic_id: str
    ends: Mapping[int, int]

    def read_to(self, planned: PlannedRange) -> Stint:
        """The same, read up to the end of a plan at least."""
        partition = planned.offsets.partition.partition
        further = max(planned.offsets.end, self.ends.get(partition, 0))
        return Stint(self.topic_id, {**self.ends, partition: further})

    def held_by(self, planned: PlannedRange) -> Stint:
        """The same without what the log no longer held when this was planned.

        Records that are written there from then on are others.
        """
        partition = planned.offsets.partition.partition
        if planned.topic_id != self.topic_id or partition not in self.ends:
            return self
        held = min(planned.last_stable_offset, self.ends[partition])
        return Stint(self.topic_id, {**self.ends, partition: held})


@dataclass(frozen=True)
class TopicRanks:
    """The stints of each topic, the first one first; their numbers are the places of its rows.

    Unless `is_whole`, plans are gone: rows of different topic ids have no known order then, but one
    by columns may go on with what is left.
    """

    stints: Mapping[str, tuple[Stint, ...]] = field(default_factory=dict)
    is_whole: bool = True

    @classmethod
    def of(cls, generations: Iterable[Read], is_whole: bool = True) -> TopicRanks:
        """By the first plan of each generation, and by its last one."""
        found: dict[str, list[Stint]] = {}
        for first, last in generations:
            for each in first:
                topic = each.offsets.partition.topic
                found[topic] = [stint.held_by(each) for stint in found.get(topic, ())]
            seen: set[str] = set()
            for each in sorted(last, key=lambda each: each.offsets.partition):
                topic = each.offsets.partition.topic
                stints = found.setdefault(topic, [])
                # A former topic has only partitions that the present one lacks: never the first.
                if topic not in seen and (not stints or stints[-1].topic_id != each.topic_id):
                    stints.append(Stint(each.topic_id, {}))
                seen.add(topic)
                mine = [at for at, stint in enumerate(stints) if stint.topic_id == each.topic_id]
                if mine:
                    stints[mine[-1]] = stints[mine[-1]].read_to(each)
        return cls({topic: tuple(each) for topic, each in found.items()}, is_whole)

    @cached_property
    def ids(self) -> Mapping[str, list[tuple[int, Stint]]]:
        """The stints of each topic id, with their numbers."""
        found: dict[str, list[tuple[int, Stint]]] = {}
        for stints in self.stints.values():
            for number, each in enumerate(stints):
                found.setdefault(each.topic_id, []).append((number, each))
        return found

    @property
    def returns(self) -> Iterable[tuple[str, int, list[int]]]:
        """Where a topic was read again: its name, the stint, and those of others since its first.

        Rows of it have no known order among those of the others.
        """
        for topic, stints in self.stints.items():
            ids = [each.topic_id for each in stints]
            for number, topic_id in enumerate(ids):
                first = ids.index(topic_id)
                if others := [at for at in range(first, number) if ids[at] != topic_id]:
                    yield topic, number, others

    @property
    def certain(self) -> list[str]:
        """The topic ids whose rows have a known order among those of all others of their topics."""
        unsure = {topic for topic, _, _ in self.returns}
        known = (stints for topic, stints in self.stints.items() if topic not in unsure)
        return sorted(each.topic_id for stints in known for each in stints) if self.is_whole else []

    def place(self, topic_id: str, partition: int, offset: int) -> int | None:
        """The number of the stint that has read a row first; None for an unknown topic id."""
        stints = self.ids.get(topic_id)
        if stints is None:
            return None
        known = (number for number, each in stints if offset < each.ends.get(partition, 0))
        return next(known, stints[-1][0])

    def may_precede(self, topic_id: str, offset: int, other: str) -> bool:
        """Whether rows of a topic id, from an offset on, may be older than some of another one.

        So they may where nothing orders the two: in topics of two names, or where plans are gone.
        """
        if topic_id == other:
            return False
        if not self.is_whole:
            return True
        for stints in self.stints.values():
            there = {each.topic_id for each in stints}
            if {topic_id, other} <= there:
                mine = [n for n, e in enumerate(stints) if e.topic_id == topic_id]
                reached = (n for n in mine if any(offset < end for end in stints[n].ends.values()))
                last = max(n for n, e in enumerate(stints) if e.topic_id == other)
                return next(reached, mine[-1]) < last
        return True
