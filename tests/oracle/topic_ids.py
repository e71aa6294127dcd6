"""The topic ids of topics that had one name, in the order in which plans name them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_BATCH = re.compile("[a-z]+-([0-9]+)-[0-9]+")
Plan = tuple[int, str, int, str]
"""A generation, topic, partition and topic id that a planned batch names."""


@dataclass(frozen=True)
class TopicIds:
    """`ranks`: the place of an id among those of its topic.

    `again`: the generation that returned to an id, after one that had read another id of the
    topic. Whether its rows from there on are before or after those of the other is not known.
    """

    ranks: Mapping[str, int]
    again: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def named_by(cls, plans: Iterable[Plan]) -> TopicIds:
        """As these plans name them, in their order."""
        met: dict[str, list[str]] = defaultdict(list)
        read: dict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
        for generation, topic, partition, topic_id in plans:
            read[topic, partition].append((generation, topic_id))
            if topic_id not in met[topic]:
                met[topic].append(topic_id)
        again: dict[str, int] = {}
        for steps in read.values():
            gone: set[str] = set()
            for (_, before), (generation, now) in pairwise(steps):
                if now != before:
                    gone.add(before)
                    if now in gone:
                        again[now] = min(generation, again.get(now, generation))
        return cls({each: ids.index(each) for ids in met.values() for each in ids}, again)

    def has_returned(self, row: Mapping[str, Any]) -> bool:
        """Whether the row was read after its topic id had been left for another."""
        if row["_topic_id"] not in self.again:
            return False
        generation = generation_of(row)
        return generation is None or generation >= self.again[row["_topic_id"]]


def generation_of(row: Mapping[str, Any]) -> int | None:
    """The generation of the batch that wrote a row; None where none did."""
    found = _BATCH.fullmatch(row["_batch"] or "")
    return None if found is None else int(found[1])
