"""Topic ranks: in which order the topics that had one name were read, as far as it is known. Pure.

A row is placed by its topic id and the generation of the batch that wrote it: the rows of a topic
that is read once more, behind a later one of its name, may be newer than the later one's, or older.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sluice.offsets.ranges import TopicPartition


@dataclass(frozen=True)
class TopicRanks:
    """The topic ids of each topic, in the order in which they were first read.

    `again` has the generation in which a topic id was read once more, behind another one. What the
    generations before `since` have read is unknown.
    """

    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    again: Mapping[str, int] = field(default_factory=dict)
    since: int = 1

    @classmethod
    def of(cls, read: Iterable[tuple[int, TopicPartition, str]]) -> TopicRanks:
        """By the topic ids that each generation has read, the first generation first."""
        ids: dict[str, list[str]] = {}
        by_partition: dict[TopicPartition, list[str]] = {}
        again: dict[str, int] = {}
        since = None
        for generation, partition, topic_id in read:
            since = since or generation
            met, here = ids.setdefault(partition.topic, []), by_partition.setdefault(partition, [])
            if topic_id not in met:
                met.append(topic_id)
            if topic_id in here[:-1] and topic_id != here[-1]:
                again.setdefault(topic_id, generation)
            here.append(topic_id)
        return cls({topic: tuple(met) for topic, met in ids.items()}, again, since or 1)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each topic id among those of its topic, from 0."""
        return {each: place for ids in self.ids.values() for place, each in enumerate(ids)}

    @property
    def is_whole(self) -> bool:
        """Whether the order of all rows of the topic ids that it has is known."""
        return not self.again and self.since <= 1

    def has_place(self, topic_id: str, generation: int | None) -> bool:
        """Whether a row's order among those of the other topic ids of its topic is known.

        None for a row that no batch has written: it is placed where all rows of its id are.
        """
        if topic_id not in self.places:
            return False
        if generation is None:
            return self.since <= 1 and topic_id not in self.again
        return self.since <= generation < self.again.get(topic_id, generation + 1)

    def may_precede(self, topic_id: str, other: str) -> bool:
        """Whether rows of a topic id may be older than some of another one."""
        if self.places and topic_id not in self.places:
            return topic_id != other
        return any(
            topic_id in ids and other in ids[ids.index(topic_id) + 1 :] for ids in self.ids.values()
        )
