"""State rows: what a span of the log makes of a state table, in plain Python.

An implementation of its own: nothing of `sluice.lake.state` is in it, so that either shows what is
wrong with the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sluice.columns.columns import Column
from sluice.lake.port import NoOrder, RowWithoutKey
from sluice.state_table.counts import StateCounts
from sluice.state_table.placeholders import placeholders
from sluice.state_table.rules import DELETED

from tests.worlds.written_lake.row_order import Compared, Row, RowOrder, compared, place

_SHOWN_KEYS, _SHOWN_ROWS = 3, 5
_NEVER_UNAVAILABLE = ("_topic", "_topic_id", "_key")
Changes = dict[Compared, Row | None]
"""The row that a key has from now on; None where it has none any more."""
ByKey = dict[Compared, list[Row]]


@dataclass(frozen=True)
class StateRows:
    """How rows of the log become rows of the state; `columns` are those that it has of the log.

    `read_log` gives all rows of the log at the end of the span, `state` those of the state.
    """

    order: RowOrder
    columns: Sequence[Column]
    read_log: Callable[[], list[Row]]
    state: list[Row]

    def appended(self, added: list[Row]) -> tuple[Changes, StateCounts]:
        """Of rows that were added: those that are newer than the state's.

        Where one is older, it may have a value that a newer one lacks: the log is asked.
        """
        by_key, counted = self._by_key(added)
        changes: Changes = {}
        for key, rows in by_key.items():
            now = self.now.get(key)
            is_late = now is not None and self.order.of(rows[0]) < self.order.of(now)
            # The state does not say which of its values were filled.
            asks_log = is_late and bool(self._unavailable)
            kind = self._kind_of_newer(rows[-1], now, asks_log)
            counted += Counter({kind: 1, "superseded": len(rows) - 1})
            if asks_log:
                changes[key] = self._newest(self.log[key])
            elif kind != "stale":
                changes[key] = self._newest(rows, now)
        self._require_order(by_key)
        return changes, StateCounts(**counted)

    def rewritten(self, removed: list[Row], added: list[Row]) -> tuple[Changes, StateCounts]:
        """The keys of rows that are no longer there, or were not, by the whole log."""
        before, after = map(self._by_content, (removed, added))
        gone = [row for content, row in before.items() if content not in after]
        come = [row for content, row in after.items() if content not in before]
        _, unkeyed = self._by_key(come)
        counted = Counter(unkeyed=unkeyed["unkeyed"])
        keys = {key for each in (*gone, *come) if (key := self.order.key(each)) is not None}
        changes: Changes = {}
        for key in keys:
            rows, now = self.log.get(key, []), self.now.get(key)
            row = self._newest(rows) if rows else None
            kind = self._kind_anew(row, now)
            counted[kind] += 1
            if kind != "stale":
                changes[key] = row
        self._require_order({key: self.log.get(key, []) for key in keys})
        return changes, StateCounts(**counted)

    def everything(self) -> tuple[Changes, StateCounts]:
        """All keys, by the whole log."""
        by_key, counted = self._by_key(self.read_log())
        for rows in by_key.values():
            kind = "deleted" if self.order.deletes(rows[-1]) else "inserted"
            counted += Counter({kind: 1, "superseded": len(rows) - 1})
        self._require_order(by_key)
        return {key: self._newest(rows) for key, rows in by_key.items()}, StateCounts(**counted)

    def unordered(self) -> set[Compared]:
        """The keys of the log whose rows have no order."""
        if self.order.rules.is_ordered:
            return set()
        return {key for key, rows in self.log.items() if self._unordered(rows)}

    def difference(self, of_log: Sequence[Row], of_state: Sequence[Row]) -> str | None:
        """What is wrong with the rows of a key in the state; None for what is right.

        A deleted key that the state lacks was collected.
        """
        if not of_log:
            return "the log has no row of it"
        row = self._newest(of_log)
        if not of_state:
            return None if row[DELETED] else "the state has no row of it"
        if len(of_state) > 1:
            return "the state has several rows of it"
        return None if self._same(row, of_state[0]) else "its row is another"

    @cached_property
    def now(self) -> dict[Compared, Row]:
        """The rows of the state by key."""
        return {key: row for row in self.state if (key := self.order.key(row)) is not None}

    @cached_property
    def log(self) -> ByKey:
        """The rows of the log by key, oldest first."""
        return self._sorted(self.read_log())

    @property
    def names(self) -> list[str]:
        """The columns of the state."""
        return [*(each.name for each in self.columns), DELETED]

    def _sorted(self, rows: Iterable[Row]) -> ByKey:
        found: ByKey = defaultdict(list)
        for row in rows:
            if (key := self.order.key(row)) is not None:
                found[key].append(row)
        return {key: list(self.order.sorted(mine)) for key, mine in found.items()}

    def _by_key(self, rows: list[Row]) -> tuple[ByKey, Counter[str]]:
        """The rows by key, oldest first, and how many have none. Raises RowWithoutKey."""
        unkeyed = [row for row in rows if self.order.key(row) is None]
        if unkeyed and not self.order.rules.ignores_unkeyed:
            shown = ", ".join(sorted(map(place, unkeyed[:_SHOWN_ROWS])))
            raise RowWithoutKey(f"{len(unkeyed):,} rows, such as {shown}")
        return self._sorted(rows), Counter(unkeyed=len(unkeyed))

    def _by_content(self, rows: Iterable[Row]) -> dict[Compared, Row]:
        return {compared(row, [each.name for each in self.columns]): row for row in rows}

    def _same(self, row: Row, now: Row) -> bool:
        return compared(row, self.names) == compared(now, self.names)

    def _kind_of_newer(self, newest: Row, now: Row | None, asks_log: bool) -> str:
        is_newer = now is None or self.order.of(newest) > self.order.of(now)
        if not is_newer and not asks_log:
            return "stale"
        if self.order.deletes(newest):
            return "deleted"
        return "inserted" if now is None else "updated"

    def _kind_anew(self, row: Row | None, now: Row | None) -> str:
        if row is None or now is None:
            if row is now:
                return "stale"
            return "deleted" if row is None or row[DELETED] else "inserted"
        if self._same(row, now):
            return "stale"
        return "deleted" if row[DELETED] else "updated"

    def _newest(self, rows: Sequence[Row], before: Row | None = None) -> Row:
        """The last of the rows as the state has it; what it lacks is of the next older row.

        `before` is the row of the state, which is older than all.
        """
        newest = {each.name: rows[-1].get(each.name) for each in self.columns}
        for name, told in self._unavailable.items():
            older = (row.get(name) for row in reversed(rows))
            beyond = None if before is None else before.get(name)
            newest[name] = next((value for value in older if value not in told), beyond)
        return {**newest, DELETED: self.order.deletes(rows[-1])}

    @cached_property
    def _unavailable(self) -> dict[str, list[object]]:
        """What stands for a value that is unavailable, by column."""
        told = self.order.rules.unavailable
        if told is None:
            return {}
        kept = {*_NEVER_UNAVAILABLE, *self.order.rules.key}
        # A map is read as its entries.
        found: dict[str, list[object]] = {
            each.name: [
                list(e.items()) if isinstance(e, Mapping) else e
                for e in placeholders(each.type, told)
            ]
            for each in self.columns
        }
        return {name: those for name, those in found.items() if those and name not in kept}

    def _require_order(self, by_key: ByKey) -> None:
        """Raises NoOrder, with both places, for keys whose rows offsets do not order."""
        if self.order.rules.is_ordered:
            return
        found = [shown for key, rows in by_key.items() if (shown := self._apart(key, rows))]
        if found:
            raise NoOrder("; ".join(found[:_SHOWN_KEYS]))

    def _apart(self, key: Compared, rows: Sequence[Row]) -> str | None:
        now = self.now.get(key)
        known = [*rows, *([] if now is None else [now])]
        if len({(e["_topic"], e["_partition"], e["_topic_id"]) for e in known}) < 2:
            return None
        return self._unordered(self.log.get(key, []))

    def _unordered(self, rows: Sequence[Row]) -> str | None:
        """The first place and the last of rows that have no order."""
        of_log = sorted(rows, key=_in_kafka)
        topics = {row["_topic"] for row in of_log}
        ids = {row["_topic_id"] for row in of_log}
        partitions = {_in_kafka(row)[:3] for row in of_log}
        is_known = len(ids) < 2 or self.order.is_known(of_log)
        if len(topics) < 2 and len(partitions) <= len(ids) and is_known:
            return None
        low, high = (f"{place(e)} (topic id {e['_topic_id']})" for e in (of_log[0], of_log[-1]))
        return f"one in {low} and {high}"


def _in_kafka(row: Row) -> tuple[str, str, int, int]:
    return row["_topic"], row["_topic_id"], row["_partition"], row["_offset"]
