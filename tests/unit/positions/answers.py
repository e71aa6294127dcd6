"""What a test lets positions ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sluice.offsets.ranges import TopicPartition

from tests.unit.builders import partition


@dataclass
class Answers:
    """A cluster that knows what a test told it, and what it was asked."""

    found: Mapping[int, int] = field(default_factory=dict)
    asked: list[object] = field(default_factory=list)

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        self.asked.append(moment)
        return {each: self.found.get(each.partition) for each in partitions}

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        self.asked.append(group)
        return {each: self.found.get(each.partition) for each in partitions}

    def checkpoint_ends(self, folder: str) -> Mapping[TopicPartition, int]:
        self.asked.append(folder)
        return {partition(number): end for number, end in self.found.items()}

    def last_written(self, table: str, app_id: str | None) -> Mapping[int, int]:
        self.asked.append((table, app_id))
        return self.found
