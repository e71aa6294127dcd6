"""Order: which row of a key is newer, whether it deletes, and where it is; as Spark SQL. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sluice.columns.names import quoted
from sluice.derived.written_values import text_of
from sluice.state_table.rules import StateRules
from sluice.state_table.topic_ranks import TopicRanks

# Behind the rank of the topic id. Those behind the offset make the order total.
_LAST = ("_offset", "_partition", "_topic", "_topic_id")
# Of `forward-1-42`; null in rows that have no such batch.
_GENERATION = "try_cast(regexp_extract(_batch, '^[a-z]+-([0-9]+)-[0-9]+$', 1) AS INT)"


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
        places = self.ranks.places
        if not places:
            return "0"
        cases = (f"WHEN {text_of(each).sql} THEN {place}" for each, place in places.items())
        return f"CASE {_column(table, '_topic_id')} {' '.join(cases)} ELSE -1 END"

    def may_lack_place(self, topic_id: str) -> str:
        """Whether the order of some row of this topic id, a column, may be unknown."""
        if not self.ranks.is_whole:
            return "true"
        return f"NOT {_is_in(topic_id, self.ranks.places)}"

    @property
    def lacks_place(self) -> str:
        """Whether a row of the log, with `_batch`, has no known order among those of other ids."""
        ranks = self.ranks
        known = [_is_in("_topic_id", ranks.places)]
        known += [f"{_GENERATION} >= {ranks.since}"] if ranks.since > 1 else []
        known += (
            f"(_topic_id <> {text_of(each).sql} OR {_GENERATION} < {generation})"
            for each, generation in ranks.again.items()
        )
        return f"NOT coalesce({' AND '.join(known)}, false)"

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


def _is_in(column: str, topic_ids: Iterable[str]) -> str:
    shown = ", ".join(text_of(each).sql for each in topic_ids)
    return f"({column} IN ({shown}))" if shown else "false"


def _column(table: str, name: str) -> str:
    return f"{table}.{quoted(name)}" if table else quoted(name)
