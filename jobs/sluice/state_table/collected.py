"""Collected keys: below which offsets deleted rows have left a state table. Pure.

What is appended below them may be older than a row that the state no longer has: then the log is
asked instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sluice.offsets.batches import Batch
from sluice.offsets.partition_log import Logs
from sluice.state_table.spans import FileBounds
from sluice.state_table.topic_ranks import TopicRanks

COLLECTED = "sluice.collected"
"""The property of a state table that says so, written before its rows go."""


@dataclass(frozen=True)
class Collected:
    """By topic id, the offset below which deleted rows may be gone."""

    ends: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As JSON."""
        return json.dumps(dict(sorted(self.ends.items())), separators=(",", ":"))

    @classmethod
    def read(cls, text: str | None) -> Collected:
        """Read back what a table's property says. Raises ValueError for anything else."""
        found = json.loads(text or "{}")
        if not isinstance(found, dict) or not all(type(end) is int for end in found.values()):
            raise ValueError(text)
        return cls(found)

    def further(self, ends: Mapping[str, int]) -> Collected:
        """With these ends, where they are greater."""
        both = {**self.ends, **ends}
        return Collected({key: max(end, self.ends.get(key, 0)) for key, end in both.items()})

    def is_reached_by(self, added: Iterable[FileBounds], ranks: TopicRanks) -> bool:
        """Whether a file may have a row that is older than one that was collected.

        Also of a topic id that may have come before one of which rows were collected, and of
        another topic: nothing orders their rows.
        """
        return bool(self.ends) and any(self._reaches(each, ranks) for each in added)

    def _reaches(self, file: FileBounds, ranks: TopicRanks) -> bool:
        if file.topic_ids is None or file.offsets is None:
            return True
        least, greatest = file.topic_ids
        if least != greatest or file.offsets[0] < self.ends.get(least, 0):
            return True
        return any(ranks.may_precede(least, file.offsets[0], each) for each in self.ends)


def collectable(logs: Logs, unfinished: Iterable[Batch]) -> Mapping[str, int]:
    """By topic id, the offset below which no record can be read again, of any of its partitions.

    That is below the log start of all of them, and below what a planned batch has yet to read.
    Nothing of several topics: a record of another one may still come, and nothing orders them.
    """
    if len({partition.topic for partition in logs}) > 1:
        return {}
    found: dict[str, int] = {}
    starts = [(log.topic_id, log.log_start_offset) for log in logs.values()]
    planned = [(r.topic_id, r.offsets.start) for batch in unfinished for r in batch.ranges]
    for topic_id, start in starts:
        found[topic_id] = min(start, found.get(topic_id, start))
    for topic_id, start in planned:
        if topic_id in found:
            found[topic_id] = min(start, found[topic_id])
    return {topic_id: end for topic_id, end in found.items() if end > 0}
