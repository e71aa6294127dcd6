"""The verdict on a state table: at each version that claims to, it is the state of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.oracle.delta_log import TableLog, read_log
from tests.oracle.state import (
    LEFT_OUT,
    Key,
    NoOrder,
    Row,
    State,
    StateRules,
    expected_state,
    place_name,
    shown,
)
from tests.oracle.state_tables import Claim, Gone, Snapshot, claims, snapshot, topic_ids
from tests.oracle.state_values import equal, unchanged
from tests.oracle.topic_ids import TopicIds

NOWHERE = -1
COUNTS = ("inserted", "updated", "deleted", "superseded", "stale", "unkeyed")


@dataclass(frozen=True)
class StateTable:
    """A state table beside its data table, and the claims in its log."""

    rules: StateRules
    ids: TopicIds
    collected: bool
    data: TableLog
    state: TableLog
    claims: list[Claim]

    @property
    def newest_data(self) -> int:
        return self.data.versions[-1].number if self.data.versions else self.data.base

    @property
    def newest_state(self) -> int:
        return self.state.versions[-1].number if self.state.versions else self.state.base

    def at(self, state: int, data: int) -> tuple[Snapshot, Snapshot]:
        """Both tables, each at a version of it. Raises Unjudgeable if one is gone."""
        return snapshot(self.state.root, state), snapshot(self.data.root, data)


def judge_state(
    warehouse: Path,
    table: str,
    pipeline: str,
    rules: StateRules,
    *,
    collected: bool = False,
    caught_up: bool = True,
    anew: bool = False,
) -> list[str]:
    """What is wrong with the state table, a sentence each; nothing if it is right.

    `collected`: keys whose greatest row deletes may be absent. `caught_up`: the newest state is
    that of the newest data, too. `anew`: what was claimed before the last rebuild was by other
    rules, or about a data table of which an older copy has taken the place since.

    `rules` see moments as microseconds since 1970, days as days.
    Raises Unjudgeable if the newest versions cannot be read.
    """
    data = read_log(warehouse / table, vectors=True)
    state = read_log(warehouse / f"{table}__state", vectors=True)
    if not state.exists:
        return [f"{state.root}: expected a state table, found none"]
    every = claims(state, pipeline)
    # A rebuild says first that the table stands at no version.
    found = [each for each in every if each.data_version != NOWHERE]
    if every and every[-1].data_version == NOWHERE:
        return [f"{every[-1]}: expected a version of the data table, found none: it is given up"]
    if not found:
        return [f"{state.root}: expected a commit with the id sluice:{pipeline}:state, found none"]
    ids = topic_ids(warehouse, table, pipeline)
    if anew:
        found = found[max(at for at, each in enumerate(found) if each.rebuilds) :]
    judged = StateTable(rules, ids, collected, data, state, found)
    return list(_violations(judged, caught_up))


def _violations(judged: StateTable, caught_up: bool) -> Iterator[str]:
    yield from _never_back(judged.claims)
    of_this_table = _since_rebuilt(judged)
    for claim in of_this_table:
        yield from _told_wrong(claim, judged)
        if claim.data_version > judged.newest_data or claim.data_version < 0:
            yield (
                f"{claim}: expected a version of the data table, whose newest is"
                f" {judged.newest_data}"
            )
        elif (tables := _kept(claim, judged)) is not None:
            yield from _differences(str(claim), tables, judged)
    last = of_this_table[-1]
    if last.data_version not in range(judged.newest_data + 1):
        return
    if judged.newest_state > last.number:
        where = f"state version {judged.newest_state}, after {last}"
        yield from _differences(where, judged.at(judged.newest_state, last.data_version), judged)
    if caught_up and judged.newest_data > last.data_version:
        where = f"{last}, behind data version {judged.newest_data}"
        yield from _differences(where, judged.at(judged.newest_state, judged.newest_data), judged)


def _never_back(found: list[Claim]) -> Iterator[str]:
    for before, claim in pairwise(found):
        if claim.data_version < before.data_version and not claim.rebuilds:
            yield f"{claim}: expected no version before that of {before}, as it is no rebuild"


def _since_rebuilt(judged: StateTable) -> list[Claim]:
    """The claims about this data table: those before a rebuild may speak of another one."""
    found = judged.claims
    for place in range(len(found) - 1, 0, -1):
        anew = found[place].rebuilds and found[place].names(judged.data.table_id)
        if anew and not found[place - 1].names(judged.data.table_id):
            return found[place:]
    return found


def _told_wrong(claim: Claim, judged: StateTable) -> Iterator[str]:
    """What its `userMetadata` has to say."""
    told = claim.told
    if not isinstance(told, dict):
        yield f"{claim}: expected userMetadata with a JSON object, found {told!r}"
        return
    for name, expected in (
        ("data_table_id", judged.data.table_id),
        ("data_version", claim.data_version),
    ):
        if told.get(name) != expected:
            yield f"{claim}: expected {name} {expected!r}, found {told.get(name)!r}"
    digest = told.get("digest")
    if not isinstance(digest, str) or not digest:
        yield f"{claim}: expected digest to be a text, found {digest!r}"
    for name in COUNTS:
        count = told.get(name)
        if type(count) is not int or count < 0:
            yield f"{claim}: expected {name} to be a count, found {count!r}"


def _kept(claim: Claim, judged: StateTable) -> tuple[Snapshot, Snapshot] | None:
    """Its two tables; None where clean-up took an older version. Of the newest it must not."""
    newest = claim is judged.claims[-1]
    if claim.data_version < judged.data.base and not newest:
        return None
    try:
        return judged.at(claim.number, claim.data_version)
    except Gone:
        if newest:
            raise
        return None


def _differences(
    where: str, tables: tuple[Snapshot, Snapshot], judged: StateTable
) -> Iterator[str]:
    """How a version of the state table differs from the state of a version of the data table."""
    state, data = tables
    yield from (f"{where}: {wrong}" for wrong in _wrong_columns(data, state))
    if any(name not in state.types for name in (*judged.rules.key, "_deleted")):
        return
    try:
        expected = expected_state(data.rows, judged.rules, judged.ids)
    except NoOrder as none:
        yield f"{where}: expected no state, as {none}"
        return
    unkeyed = judged.rules.unkeyed_in(data.rows)
    if unkeyed and judged.rules.unkeyed == "stop":
        yield (
            f"{where}: expected no state, as {len(unkeyed)} rows have no key: "
            f"{place_name(unkeyed[0])}"
        )
    yield from (f"{where}: {wrong}" for wrong in _wrong_rows(expected, state.rows, judged))


def _wrong_columns(data: Snapshot, state: Snapshot) -> Iterator[str]:
    expected = {name: str(kind) for name, kind in data.types.items() if name not in LEFT_OUT}
    expected["_deleted"] = "bool"
    found = {name: str(kind) for name, kind in state.types.items()}
    for name in sorted({*expected, *found}):
        if expected.get(name) != found.get(name):
            wanted = expected.get(name, "none")
            yield f"column {name}: expected {wanted}, found {found.get(name, 'none')}"


def _wrong_rows(expected: State, rows: list[Row], judged: StateTable) -> Iterator[str]:
    found: dict[Key, Row] = {}
    counted: Counter[Key] = Counter()
    for row in rows:
        key = judged.rules.key_of(row)
        if key is None:
            yield f"expected a key in each row, found a null in {_key_columns(row, judged)}"
        else:
            found[key] = row
            counted[key] += 1
    absent = (key for key in expected if key not in found)
    missing = [k for k in absent if not (judged.collected and expected[k]["_deleted"])]
    yield from _some("expected a row, found none", missing)
    yield from _some("expected no row, found one", (key for key in found if key not in expected))
    repeated = (key for key, count in counted.items() if count > 1)
    yield from _some("expected one row, found several", repeated)
    yield from _wrong_values(expected, found, judged.rules)


def _key_columns(row: Row, judged: StateTable) -> dict[str, object]:
    return {column: row[column] for column in judged.rules.key}


def _wrong_values(expected: State, found: State, rules: StateRules) -> Iterator[str]:
    """The keys whose row has another value than it should, column by column."""
    differing: dict[str, list[Key]] = {}
    for key, row in found.items():
        for column, value in expected.get(key, {}).items():
            same = equal if column in rules.key else unchanged
            if column in row and not same(row[column], value):
                differing.setdefault(column, []).append(key)
    for column, keys in differing.items():
        first, wanted = found[keys[0]][column], expected[keys[0]][column]
        yield from _some(f"{column}: expected {wanted!r}, found {first!r}", keys)


def _some(what: str, keys: Iterable[Key]) -> Iterator[str]:
    """One sentence about all these keys, with the first few."""
    told = list(keys)
    if told:
        names = ", ".join(f"key {shown(key)}" for key in told[:3])
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""
        yield f"{names}{more}: {what}"
