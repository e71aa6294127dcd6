"""The topic ids of topics that had one name, in the order in which plans name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Plan = tuple[int, str, int, str, int, int]
"""A generation, topic, partition, topic id, end offset and last stable offset of a plan."""
Turn = tuple[str, dict[int, int]]
"""A topic id for as long as no other one of its topic is read; partition → the end of what is."""


@dataclass(frozen=True)
class TopicIds:
    """The turns of each topic, oldest first. Rows are as old as the turn that held them first."""

    turns: Mapping[str, list[Turn]]

    @classmethod
    def in_turn(cls, ids: Mapping[str, Iterable[str]]) -> TopicIds:
        """Each id has one turn."""
        return cls({topic: [(each, {}) for each in listed] for topic, listed in ids.items()})

    @classmethod
    def named_by(cls, plans: Iterable[Plan]) -> TopicIds:
        """As these plans name them, in their order.

        A plan may go on naming a former id for partitions that the present topic lacks.
        """
        turns: dict[str, list[Turn]] = defaultdict(list)
        named: dict[tuple[str, int], tuple[int, str]] = {}
        for generation, topic, partition, topic_id, end, stable in plans:
            known, before = turns[topic], named.get((topic, partition), (0, ""))
            named[topic, partition] = generation, topic_id
            if generation != before[0]:
                _cut(known, topic_id, partition, stable)
            if not known or (topic_id != before[1] and known[-1][0] != topic_id):
                known.append((topic_id, {}))
            for held_id, ends in reversed(known):
                if held_id == topic_id:
                    ends[partition] = max(end, ends.get(partition, 0))
                    break
        return cls(turns)

    def place(self, row: Mapping[str, Any]) -> int | None:
        """The number of the turn that held the row first; None for an id that no plan names."""
        turns = self.turns.get(row["_topic"], [])
        mine = [number for number, (each, _) in enumerate(turns) if each == row["_topic_id"]]
        for number in mine:
            if row["_offset"] < turns[number][1].get(row["_partition"], 0):
                return number
        return mine[-1] if mine else None

    def are_ordered(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether it is known which of two rows of a topic is newer.

        What an id got between two of its turns may be newer than the rows of a turn in between.
        """
        first, second = sorted((self.place(one) or 0, self.place(other) or 0))
        turns = [topic_id for topic_id, _ in self.turns[one["_topic"]]]
        return turns[second] not in turns[:first] or turns[first] == turns[second]


def _cut(turns: list[Turn], topic_id: str, partition: int, stable: int) -> None:
    """The log that a generation begins to read may lack what was read of the id before."""
    for held_id, ends in turns:
        if held_id == topic_id and partition in ends:
            ends[partition] = min(ends[partition], stable)
