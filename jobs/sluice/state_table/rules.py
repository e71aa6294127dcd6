"""State rules: which row of the log is the newest of its key, and what deletes a key. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from sluice.columns.columns import Column, Primitive
from sluice.columns.names import as_compared

DELETED = "_deleted"
"""The column of a state table that says whether its key is deleted."""
DELETED_COLUMN = Column(DELETED, Primitive("BOOLEAN"))
TRUNCATES = "coalesce(_op = 't', false)"
"""Whether a change event deletes all keys below it; it has none itself."""
OF_A_KEY = "coalesce(_op NOT IN ('t', 'm'), true)"
"""Whether a change event is of a key, and neither a truncation nor a message."""
LEFT_OUT = ("_batch", "_headers")
"""The columns of the log that a state table does not have."""
_DIGITS = 12


@dataclass(frozen=True)
class StateRules:
    """What makes the state table of a log.

    `key` and `order_by` are columns of the log. `deleted` is the condition that deletes a key, as
    Spark is given it, and `deleted_when` as the spec has it; a tombstone always deletes.
    `unavailable` is the text that stands for a value that did not change. Rows without a key are
    left out, if `ignores_unkeyed`; otherwise they stop the state. If the rows are change events
    (`of_events`), truncations and messages belong to no key, and do not stop it.
    """

    key: tuple[str, ...]
    order_by: tuple[str, ...] = ()
    deleted: str | None = None
    deleted_when: str | None = None
    unavailable: str | None = None
    ignores_unkeyed: bool = False
    of_events: bool = False

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError("key: expected at least one column")

    @property
    def is_ordered(self) -> bool:
        """Whether rows of one key in several partitions have an order."""
        return bool(self.order_by)

    def columns(self, log: Iterable[Column]) -> tuple[Column, ...]:
        """The columns of the state table, given those of the log."""
        kept = (each for each in log if as_compared(each.name) not in LEFT_OUT)
        return (*kept, DELETED_COLUMN)

    def digest(self, columns: Iterable[Column]) -> str:
        """A short name of these rules for a state table with these columns, in whatever order."""
        types = sorted((each.name, str(each.type)) for each in columns)
        decided = [self.key, self.order_by, self.deleted_when, self.unavailable, types]
        if self.of_events:
            decided.append("debezium")
        text = json.dumps(decided, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
