"""The judge of the state table: whoever trusts a version of it sees the state of the log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sluice.errors import SluiceError, StateRefused, StateStopped
from sluice.progress.lane_state import read_unchecked
from sluice.progress.state_trust import StateStanding, read_standing

from tests.oracle.state import NoOrder, StateRules, expected_state
from tests.oracle.state import Row as PlainRow
from tests.oracle.state_values import unchanged
from tests.oracle.topic_ids import TopicIds
from tests.oracle.violation import Unjudgeable
from tests.simulation.delta_tables import Action, Row
from tests.simulation.oracle import Finding
from tests.simulation.settings import RAW
from tests.simulation.told import Tables
from tests.simulation.world import STATE, Done, World
from tests.worlds.state_rules import rules_of

_APP = "sluice:trips:state"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class StateJudge:
    """Judges the state table of one world; looks at each of its commits once.

    `plans` are the topic ids and offsets that plans have named, by generation, lane, batch, topic
    and partition, whatever became of the plans.
    """

    world: World
    seen: set[tuple[object, ...]] = field(default_factory=set)
    plans: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)

    def after(self, tables: Tables, done: Done | None) -> Iterable[Finding]:
        """What is wrong after a step."""
        if not self.world.setting.has_state:
            return
        self._note_plans(tables)
        for version, said in self._new_claims():
            yield from self._claim(tables, version, said)
        if done is not None and done.whole and done.command.name in ("refresh", "rebuild"):
            yield from self._answer(tables, done)

    def _note_plans(self, tables: Tables) -> None:
        for each in _plans(tables):
            self.plans.setdefault(each[:5], each[5:])
        self.world.has_ignored_unkeyed |= self._spec.get("unkeyed") == "ignore"

    @property
    def _spec(self) -> dict[str, Any]:
        found: dict[str, Any] = self.world.keys["state"]
        return found

    def _new_claims(self) -> Iterator[tuple[int, list[Action]]]:
        folder = self.world.table(STATE)
        for version, mark, actions in self.world.reader.actions_of(folder):
            if mark not in self.seen:
                self.seen.add(mark)
                if _stands_at(actions) is not None:
                    yield version, actions

    def _claim(self, tables: Tables, version: int, said: list[Action]) -> Iterator[Finding]:
        """A commit that says at which version of the data table it stands."""
        stands_at = _stands_at(said)
        assert stands_at is not None
        told = _told(said)
        standing = self.standing()
        if stands_at < 0 or standing is None or standing.refusal or standing.found is None:
            return
        if not isinstance(told, dict) or told.get("data_version") != stands_at:
            yield Finding("a state commit does not say where it stands", f"{version}: {told}")
        elif told["data_table_id"] != tables.data.table_id:
            yield Finding("a state of another data table is trusted", f"{version}: {told}")
        elif told["digest"] == standing.found.digest:
            if wrong := self.wrong(version, stands_at):
                yield Finding("the state is wrong", f"version {version} at {stands_at}: {wrong}")
            else:
                yield from self._counted(version, told)

    def standing(self) -> StateStanding | None:
        """Where the product says that the state stands; None where it says nothing."""
        try:
            resources = self.world.pipeline().resources
            lane = read_unchecked(resources)
            return read_standing(resources, lane.data, lane.snapshot)
        except SluiceError:
            return None

    def wrong(self, version: int, stands_at: int) -> str:
        """How a version of the state differs from the state of a version of the log; or nothing."""
        world = self.world
        state = world.reader.read_at(world.table(STATE), version)
        data = world.reader.read_at(world.table("trips"), stands_at)
        if data is None and stands_at > world.reader.read(world.table("trips")).version:
            return "the data table has no such version"
        if state is None or data is None or world.rotted:
            return ""  # Rows or files went without a commit: of that no state is told.
        return self._difference(_alike(data.rows), _alike(state.rows))

    def _difference(self, log: list[PlainRow], state: list[PlainRow]) -> str:
        rules = rules_of(self.world.keys, self.world.table("trips"), self._deletes())
        try:
            expected = expected_state(log, rules, self._ids())
        except NoOrder as problem:
            return f"it has no order: {problem}"
        except Unjudgeable:
            return ""  # A process has landed rows of a plan that is gone.
        if not self.world.has_ignored_unkeyed and (unkeyed := rules.unkeyed_in(log)):
            return f"{len(unkeyed)} rows have no key"
        found: dict[Any, PlainRow] = {}
        for row in state:
            key = rules.key_of(row)
            if key is None or key in found:
                return f"a row without a key, or twice: {row}"
            found[key] = row
        if found.keys() != expected.keys():
            return f"keys {sorted(found.keys() ^ expected.keys())} are there or missing"
        for key, row in expected.items():
            for name, value in row.items():
                if not unchanged(found[key].get(name), value):
                    return f"{key}: {name}: expected {value!r}, found {found[key].get(name)!r}"
        return ""

    def _deletes(self) -> Any:
        condition = self._spec.get("deleted_when")
        if condition is None or self.world.keys["format"] == RAW:
            return None
        name, _, value = condition.partition(" = ")
        return lambda row: row.get(name) == value.strip("'")

    def _ids(self) -> TopicIds:
        return TopicIds.named_by((at[0], *at[-2:], *self.plans[at]) for at in sorted(self.plans))

    def _counted(self, version: int, told: dict[str, Any]) -> Iterator[Finding]:
        """Rows that came are counted as such, those that went too; each row is counted once."""
        world = self.world
        after = world.reader.read_at(world.table(STATE), version)
        before = None if version == 0 else world.reader.read_at(world.table(STATE), version - 1)
        if told["kind"] != "appended" or after is None or before is None or world.rotted:
            return
        rules = rules_of(self.world.keys, self.world.table("trips"))
        kept = {rules.key_of(row) for row in _alike(before.rows)}
        come = [row for row in _alike(after.rows) if rules.key_of(row) not in kept]
        living = sum(not row["_deleted"] for row in come)
        if told["inserted"] != living:
            yield Finding("state counts are wrong", f"{version}: {living} came: {told}")

    def _answer(self, tables: Tables, done: Done) -> Iterator[Finding]:
        world, problem = self.world, done.problem
        if done.green:
            yield from self._brought_up_to_date(tables)
            if not world.frozen:
                world.state_reasons.clear()
        elif isinstance(problem, StateRefused) and not world.state_reasons:
            yield Finding("the state is refused for no reason", str(problem))
        elif isinstance(problem, StateStopped) and not self._has_to_stop(tables):
            yield Finding("the state stops for no reason", str(problem))

    def _brought_up_to_date(self, tables: Tables) -> Iterator[Finding]:
        """What is trusted after a refresh is the state of the newest log, by the rules of today."""
        folder = self.world.table(STATE)
        commits = list(self.world.reader.actions_of(folder))
        claims = [at for _, _, actions in commits if (at := _stands_at(actions)) is not None]
        if tables.data.version < 0:
            return
        if not claims or claims[-1] != tables.data.version:
            yield Finding("a refresh stops too early", f"{claims[-1:]} of {tables.data.version}")
        elif wrong := self.wrong(commits[-1][0], tables.data.version):
            yield Finding("a wrong state is trusted", wrong)

    def _has_to_stop(self, tables: Tables) -> bool:
        """Whether some version of the log has no state."""
        for version in range(tables.data.version, -1, -1):
            data = self.world.reader.read_at(self.world.table("trips"), version)
            if data is None:
                return True
            rules = rules_of(self.world.keys, self.world.table("trips"))
            rows = _alike(data.rows)
            if not rules.order_by and self._has_forgotten(tables, rows, rules):
                return True
            if rules.unkeyed == "stop" and rules.unkeyed_in(rows):
                return True
            try:
                expected_state(rows, rules, self._ids())
            except NoOrder:
                return True
            except Unjudgeable:
                return True
        return False

    def _has_forgotten(self, tables: Tables, rows: list[PlainRow], rules: StateRules) -> bool:
        """Whether plans are gone, and a key has rows of two topic ids."""
        ids: dict[Any, set[str]] = defaultdict(set)
        for row in rows:
            if (key := rules.key_of(row)) is not None:
                ids[key].add(row["_topic_id"])
        kept = {each[:5] for each in _plans(tables)}
        return not kept >= {*self.plans} and any(len(each) > 1 for each in ids.values())


def _plans(tables: Tables) -> Iterator[tuple[Any, ...]]:
    for row in tables.offsets.rows:
        if row["event"] == "planned":
            batch = row["generation"], row["lane"] != "forward", row["batch_id"]
            offsets = row["end_offset"], row["last_stable_offset"]
            yield *batch, row["topic"], row["partition"], row["topic_id"], *offsets


def _stands_at(actions: list[Action]) -> int | None:
    found = (each["txn"] for each in actions if "txn" in each)
    return next((int(each["version"]) for each in found if each["appId"] == _APP), None)


def _told(actions: list[Action]) -> Any:
    info: Action = next((each["commitInfo"] for each in actions if "commitInfo" in each), {})
    try:
        return json.loads(info.get("userMetadata") or "")
    except ValueError:
        return None


def _alike(rows: Iterable[Row]) -> list[PlainRow]:
    """Rows with all columns of each other; a moment is a number of microseconds, as in the rules.

    Moments of files are read with their zone, or without.
    """
    kept = list(rows)
    names = {name for row in kept for name in row}
    return [{name: _plain(row.get(name)) for name in names} for row in kept]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=value.tzinfo or UTC) - _EPOCH
        return (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds
    return value
