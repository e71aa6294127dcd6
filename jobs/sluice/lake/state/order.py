"""Order: which row of a key is newer, whether it deletes, and where it is; as Spark SQL. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.columns.names import quoted
from sluice.derived.written_values import text_of
from sluice.state_table.rules import StateRules
from sluice.state_table.topic_ranks import TopicRanks

# Behind the rank of the topic id. Those behind the offset make the order total.
_LAST = ("_offset", "_partition", "_topic", "_topic_id")


@dataclass(frozen=True)
class Order:
    """The order of the rows of one key by the rules; `ranks` order the topics of one name.

    Structs are compared field by field, with null the least and NaN the greatest value.
    """

    rules: StateRules
    ranks: TopicRanks

    def of(self, table: str = "") -> str:
        """The value that is greater for the newer row; `table` is the name of the table."""
        names = [*self.rules.order_by]
        fields = [_column(table, name) for name in names]
        fields.append(self._rank(table))
        fields += (_column(table, each) for each in _LAST)
        return f"struct({', '.join(f'{sql} AS o{at}' for at, sql in enumerate(fields))})"

    def _rank(self, table: str) -> str:
        topic_id, cases = _column(table, "_topic_id"), []
        for each, stints in self.ranks.ids.items():
            named = f"{topic_id} = {text_of(each).sql}"
            for number, stint in stints[:-1]:
                ends = (_is_below(table, *end) for end in stint.ends.items())
                cases.append(f"WHEN {named} AND ({' OR '.join(ends)}) THEN {number}")
            cases.append(f"WHEN {named} THEN {stints[-1][0]}")
        return f"CASE {' '.join(cases)} ELSE -1 END" if cases else "-1"

    def may_lack_place(self, topic_id: str) -> str:
        """Whether the order of some row of this topic id, a column, may be unknown."""
        certain = ", ".join(text_of(each).sql for each in self.ranks.certain)
        return f"{topic_id} NOT IN ({certain})" if certain else "true"

    @property
    def place(self) -> str:
        """The place of a row among those of other topic ids of its topic; null if it is unknown."""
        return f"nullif({self._rank('')}, -1)" if self.ranks.is_whole else "CAST(NULL AS INT)"

    def clash(self, topic: str, places: str) -> str:
        """Whether rows of a topic, at places in an array, have no known order."""
        pairs = (
            f"({topic} = {text_of(name).sql} AND array_contains({places}, {number})"
            f" AND arrays_overlap({places}, array({', '.join(map(str, others))})))"
            for name, number, others in self.ranks.returns
        )
        return " OR ".join(pairs) or "false"

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


def _is_below(table: str, partition: int, offset: int) -> str:
    at, position = _column(table, "_partition"), _column(table, "_offset")
    return f"({at} = {partition} AND {position} < {offset})"


def _column(table: str, name: str) -> str:
    return f"{table}.{quoted(name)}" if table else quoted(name)
