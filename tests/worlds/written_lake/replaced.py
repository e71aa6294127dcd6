"""Replaced rows: which rows of the data table a batch reads again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from sluice.lake.port import BatchAttempt
from sluice.lake.predicate import rows_in_ranges

from tests.worlds.written_lake.state import StoredFile

# As in sluice.lake.predicate: so few ranges have terms of their own.
_FEW_RANGES = 16


class Rows(Protocol):
    """Some rows of a table, as a predicate of Delta names them."""

    @property
    def predicate(self) -> str:
        """Its text."""

    def may_be_in(self, partition: Mapping[str, str | None]) -> bool:
        """Whether such rows may lie in a partition: only what all of them share is looked at."""

    def may_be_of(self, file: StoredFile) -> bool:
        """Whether a file may hold such rows, by its partition and statistics."""

    def mask(self, rows: pa.Table) -> pa.Array:
        """Which rows are such."""


@dataclass(frozen=True)
class RowsInRanges:
    """The rows of the data table at the offsets of a batch, by topic and topic id."""

    attempt: BatchAttempt

    @property
    def predicate(self) -> str:
        """Its text."""
        return rows_in_ranges(self.attempt)

    def may_be_in(self, partition: Mapping[str, str | None]) -> bool:
        """Delta looks at the terms that all rows share: of one topic, and of one partition."""
        ranges = [each for each in self.attempt.ranges if each.span]
        topics = {each.partition.topic for each in ranges}
        if len(topics) > 1:
            return True
        (topic,) = topics
        topic_id = self.attempt.batch.topic_ids[topic]
        if partition.get("_topic", topic) != topic:
            return False
        if partition.get("_topic_id", topic_id) != topic_id:
            return False
        numbers = [each.partition.partition for each in ranges]
        alike = len(ranges) == 1 or len(ranges) > _FEW_RANGES
        if alike and (found := partition.get("_partition")) is not None:
            return min(numbers) <= int(found) <= max(numbers)
        return True

    def may_be_of(self, file: StoredFile) -> bool:
        """By its partition and statistics."""
        return any(
            _within(each.start, each.end - 1, "_offset", file)
            and _within(each.partition.partition, each.partition.partition, "_partition", file)
            and _within(topic_id, topic_id, "_topic_id", file)
            for each, topic_id in self._ranges()
        )

    def mask(self, rows: pa.Table) -> pa.Array:
        """Which rows are such."""
        found = pa.array([False] * len(rows), pa.bool_())
        for each, topic_id in self._ranges():
            mine = pc.and_(
                pc.equal(rows["_topic"], each.partition.topic),
                pc.equal(rows["_topic_id"], topic_id),
            )
            mine = pc.and_(mine, pc.equal(rows["_partition"], each.partition.partition))
            mine = pc.and_(mine, pc.greater_equal(rows["_offset"], each.start))
            mine = pc.and_(mine, pc.less(rows["_offset"], each.end))
            found = pc.or_(found, pc.fill_null(mine, False))
        return found

    def _ranges(self) -> list[tuple[Any, str]]:
        ids = self.attempt.batch.topic_ids
        return [(each, ids[each.partition.topic]) for each in self.attempt.ranges if each.span]


def _within(least: Any, greatest: Any, column: str, file: StoredFile) -> bool:
    """Whether a file may hold a value of a column between two."""
    if column in file.partition:
        found = file.partition[column]
        return found is not None and least <= type(least)(found) <= greatest
    low, high = file.least.get(column), file.greatest.get(column)
    return low is None or high is None or (low <= greatest and least <= high)
