"""Row order: which row of a key is the newest, whether it deletes, and which rows are equal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.state_table.rules import StateRules
from sluice.state_table.topic_ranks import TopicRanks

from tests.worlds.written_lake.deleting_condition import meets

Row = dict[str, Any]
"""A row by its columns; a moment is a number of microseconds, a date one of days."""
Compared = tuple[tuple[Any, ...], ...]
"""Values that are equal, and less, where Spark says so."""


def compared(row: Mapping[str, Any], names: Iterable[str]) -> Compared:
    """The values of some columns: a null is the least, NaN is equal to itself and the greatest."""
    return tuple(_compared(row.get(name)) for name in names)


def _compared(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value)


def place(row: Row) -> str:
    """Where a row is in Kafka."""
    return f"{row['_topic']}[{row['_partition']}]@{row['_offset']}"


@dataclass(frozen=True)
class RowOrder:
    """The order of the rows of one key by the rules; `ranks` order the topics of one name."""

    rules: StateRules
    ranks: TopicRanks

    def key(self, row: Row) -> Compared | None:
        """The row's key; None where a part of it is null."""
        if any(row.get(name) is None for name in self.rules.key):
            return None
        return compared(row, self.rules.key)

    def of(self, row: Row) -> tuple[Any, ...]:
        """What is greater for the newer row."""
        found = self.ranks.place(row["_topic_id"], row["_partition"], row["_offset"])
        rank = -1 if found is None else found
        at = (row["_offset"], row["_partition"], row["_topic"], row["_topic_id"])
        return (*compared(row, self.rules.order_by), rank, *at)

    def is_known(self, rows: Sequence[Row]) -> bool:
        """Whether the order of rows of one topic, of several ids, is known."""
        ranks = self.ranks
        places = {ranks.place(e["_topic_id"], e["_partition"], e["_offset"]) for e in rows}
        return (
            ranks.is_whole
            and None not in places
            and not any(
                topic == rows[0]["_topic"] and number in places and places.intersection(others)
                for topic, number, others in ranks.returns
            )
        )

    def deletes(self, row: Row) -> bool:
        """Whether a row of the log deletes its key."""
        condition = self.rules.deleted_when
        return bool(row["_tombstone"]) or (condition is not None and meets(row, condition))

    def sorted(self, rows: Iterable[Row]) -> Sequence[Row]:
        """The rows, oldest first."""
        return sorted(rows, key=self.of)
