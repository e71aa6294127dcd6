"""The state of a log: for each key its greatest row. From the contract alone, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

from tests.oracle.state_values import plain, rank, stands_for_missing
from tests.oracle.topic_ids import TopicIds
from tests.oracle.violation import Unjudgeable

Row = dict[str, Any]
Key = tuple[Any, ...]
State = dict[Key, Row]
Place = tuple[Any, ...]
LEFT_OUT = frozenset({"_batch", "_headers"})
# What tells where a record is from; no placeholder stands there for another value.
COORDINATES = frozenset({"_topic", "_topic_id", "_partition", "_offset", "_timestamp"})


class NoOrder(Exception):
    """A key in two places of which no rule says which is the newer: the state must stop."""

    def __init__(self, key: Key, first: str, second: str) -> None:
        super().__init__(f"key {shown(key)} has no order between {first} and {second}")
        self.key, self.first, self.second = key, first, second


def never(row: Row) -> bool:
    """No row does."""
    return False


@dataclass(frozen=True)
class StateRules:
    """The section `state` of a spec. A tombstone deletes, whatever `deletes` says of it.

    A row that `truncates` has no key: it deletes all keys below it. Nor has one that is a message
    (`messages`), which says nothing of any key.
    """

    key: tuple[str, ...]
    order_by: tuple[str, ...] = ()
    deletes: Callable[[Row], bool] = never
    truncates: Callable[[Row], bool] = never
    messages: Callable[[Row], bool] = never
    unavailable: str | None = None
    unkeyed: Literal["stop", "ignore"] = "stop"

    def __post_init__(self) -> None:
        for name in ("key", "order_by"):
            columns = getattr(self, name)
            if not isinstance(columns, tuple) or len({*columns}) < len(columns):
                raise ValueError(f"{name}: expected a tuple of different columns, found {columns}")
        if not self.key:
            raise ValueError("key: expected at least one column, found none")
        if self.unkeyed not in ("stop", "ignore"):
            raise ValueError(f"unkeyed: expected stop or ignore, found {self.unkeyed}")

    def key_of(self, row: Row) -> Key | None:
        """None for a row without one, as one of its columns is null."""
        values = [row[column] for column in self.key]
        return None if None in values else tuple(plain(value) for value in values)

    def unkeyed_in(self, rows: Iterable[Row]) -> list[Row]:
        of_keys = (row for row in rows if not self.truncates(row) and not self.messages(row))
        return [row for row in of_keys if self.key_of(row) is None]


def expected_state(rows: Iterable[Row], rules: StateRules, ids: TopicIds) -> State:
    """Key → its row in the state, as the data table with these rows has it to be.

    Raises NoOrder; and Unjudgeable for a row of a topic id without a rank.
    """
    by_key: dict[Key, list[Row]] = defaultdict(list)
    truncations: list[Row] = []
    for row in rows:
        if rules.truncates(row):
            truncations.append(row)
        elif not rules.messages(row) and (key := rules.key_of(row)) is not None:
            by_key[key].append(row)
    if truncations and by_key and not rules.order_by:
        key, found = next(iter(by_key.items()))
        raise NoOrder(key, place_name(found[0]), place_name(truncations[0]))
    last = max((_place(row, rules, ids) for row in truncations), default=None)
    state = {}
    for key, found in by_key.items():
        newest_first = _in_order(key, found, rules, ids)
        below = last is not None and _place(newest_first[0], rules, ids) < last
        state[key] = _state_row(newest_first, rules, below)
    return state


def shown(key: Key) -> str:
    """A key for a message: a value alone, or all of them in parentheses."""
    return repr(key[0]) if len(key) == 1 else repr(key)


def place_name(row: Row) -> str:
    return f"{row['_topic']}[{row['_partition']}] {row['_offset']} (topic id {row['_topic_id']})"


def _place(row: Row, rules: StateRules, ids: TopicIds) -> Place:
    place = ids.place(row)
    if place is None:
        raise Unjudgeable(f"{place_name(row)}: no plan names its topic id")
    declared = tuple(rank(row[column]) for column in rules.order_by)
    last = (row["_offset"], row["_partition"], row["_topic"], row["_topic_id"])
    return declared, place, *last


def _in_order(key: Key, rows: list[Row], rules: StateRules, ids: TopicIds) -> list[Row]:
    """The rows of a key, the greatest first. Raises NoOrder."""
    if not rules.order_by:
        _require_one_line(key, rows, ids)
    rows = sorted(rows, key=lambda row: _place(row, rules, ids), reverse=True)
    for newer, older in pairwise(rows):
        if _place(newer, rules, ids) == _place(older, rules, ids):
            raise NoOrder(key, place_name(older), place_name(newer))
    return rows


def _require_one_line(key: Key, rows: list[Row], ids: TopicIds) -> None:
    """Offsets order the records of one partition only; ids order only those of one topic, and not
    where the topic has come back behind a later one.
    """
    partitions: dict[str, Row] = {}
    for row in rows:
        known = partitions.setdefault(row["_topic_id"], row)
        if known["_partition"] != row["_partition"]:
            raise NoOrder(key, place_name(known), place_name(row))
        if rows[0]["_topic"] != row["_topic"]:
            raise NoOrder(key, place_name(rows[0]), place_name(row))
    for one, other in combinations(rows, 2):
        if not ids.are_ordered(one, other):
            raise NoOrder(key, place_name(one), place_name(other))


def _state_row(newest_first: list[Row], rules: StateRules, truncated: bool) -> Row:
    newest = newest_first[0]
    kept = [column for column in newest if column not in LEFT_OUT]
    row = {column: _value(column, newest_first, rules) for column in kept}
    deletes = newest["_tombstone"] is True or rules.deletes(newest) is True
    return {**row, "_deleted": deletes or truncated}


def _value(column: str, newest_first: list[Row], rules: StateRules) -> Any:
    """The row's own value; in place of a placeholder, that of the next older row without it."""
    if rules.unavailable is None or column in COORDINATES or column in rules.key:
        return newest_first[0][column]
    for row in newest_first:
        if not stands_for_missing(row[column], rules.unavailable):
            return row[column]
    return None
