"""Order: which row of a key is newer, whether it deletes, and where it is; as Spark SQL. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.columns.names import quoted
from sluice.derived.written_values import text_of
from sluice.state_table.rules import StateRules

# Behind the rank of the topic id. Those behind the offset make the order total.
_LAST = ("_offset", "_partition", "_topic", "_topic_id")


@dataclass(frozen=True)
class Order:
    """The order of the rows of one key by the rules; `ranks` order the topic ids of a topic.

    Structs are compared field by field, with null the least and NaN the greatest value.
    """

    rules: StateRules
    ranks: Mapping[str, int]

    def of(self, table: str = "") -> str:
        """The value that is greater for the newer row; `table` is the name of the table."""
        names = [*self.rules.order_by]
        fields = [_column(table, name) for name in names]
        fields.append(self._rank(table))
        fields += (_column(table, each) for each in _LAST)
        return f"struct({', '.join(f'{sql} AS o{at}' for at, sql in enumerate(fields))})"

    def _rank(self, table: str) -> str:
        if not self.ranks:
            return "0"
        cases = (f"WHEN {text_of(each).sql} THEN {rank}" for each, rank in self.ranks.items())
        return f"CASE {_column(table, '_topic_id')} {' '.join(cases)} ELSE -1 END"

    @property
    def deleted(self) -> str:
        """Whether a row of the log deletes its key."""
        told = f" OR coalesce({self.rules.deleted}, false)" if self.rules.deleted else ""
        return f"coalesce(_tombstone, false){told}"

    def same_key(self, one: str, other: str) -> str:
        """Whether rows of two tables have one key."""
        names = self.rules.key
        return " AND ".join(f"{_column(one, each)} = {_column(other, each)}" for each in names)

    def key_is(self, table: str, keys: str) -> list[str]:
        """The same, where the other table is one of keys, `k0` and so on."""
        return [f"{_column(table, e)} = {keys}.k{at}" for at, e in enumerate(self.rules.key)]


def place(table: str = "") -> str:
    """Where a row is: `topic[partition]@offset`."""
    where = ", ".join(_column(table, name) for name in ("_topic", "_partition", "_offset"))
    return f"format_string('%s[%d]@%d', {where})"


def _column(table: str, name: str) -> str:
    return f"{table}.{quoted(name)}" if table else quoted(name)
