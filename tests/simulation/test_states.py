"""The state table in histories that are played by hand: each promise, and that the judge sees."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sluice.errors import CommitFailed, StateRefused, StateStopped
from sluice.lake.port import NoOrder
from sluice.protocol.refresh.making import Followed
from sluice.state_table.counts import StateCounts

from tests.simulation.actions import ACTIONS
from tests.simulation.by_hand import Hand
from tests.simulation.commands import Command
from tests.simulation.history import History
from tests.simulation.judge import Judge
from tests.simulation.oracle import Finding
from tests.simulation.play import a_world
from tests.simulation.settings import GONE, PLAIN_SETTINGS, UNAVAILABLE
from tests.simulation.state_finale import state_finale
from tests.simulation.world import STATE, World
from tests.worlds.memory_log import Record
from tests.worlds.written_lake import state_commit
from tests.worlds.written_lake.row_order import RowOrder
from tests.worlds.written_lake.state_rows import StateRows

_IN_ONE, _ORDERED, _FILLED = (PLAIN_SETTINGS * each for each in (1, 2, 3))
"""Settings: one partition, and a state by offsets, by `seq`, with placeholders."""
_THREE_PARTITIONS = 1


class States(Hand):
    """A world with a state table, whose every step is judged."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.judge = Judge(world)
        self.found: list[Finding] = []

    def put(self, key: int, seq: int = 0, name: str = "a", partition: int = 0) -> None:
        """An event of a key."""
        event = {"id": key, "extra": 1, "seq": seq, "name": name}
        self._produce(json.dumps(event).encode(), b"k%d" % key, partition)

    def put_without_key(self) -> None:
        """An event without a key."""
        self._produce(json.dumps({"seq": 1, "name": "a"}).encode(), None, 0)

    def _produce(self, value: bytes, key: bytes | None, partition: int) -> None:
        now = int(self.world.clock.now().timestamp() * 1000)
        self.world.kafka.produce("t", partition, [Record(value, key, now, ())], None)

    def lands(self) -> None:
        """The events become a version of the data table; the state does not follow."""
        work = self.world.pipeline().plan(f"{len(self.world.told)} {self.world.clock.now()}", "me")
        pipeline = self.world.pipeline()
        with pipeline.open_lake(pipeline.span(work)) as lake:
            pipeline.ingest(work, lake)
        pipeline.settle("settled", "me")

    def asks(self, name: str) -> Any:
        """A refresh or a rebuild: what it returned, or its problem. It is judged."""
        self.judge.before()
        done = self.world.carry_out(Command((name,), name))
        self.judged()
        return done.problem or done.result

    def judged(self) -> None:
        """Ask the judge what is wrong now."""
        if found := self.judge.after():
            self.found.append(found)

    def follows(self) -> list[Followed]:
        """A refresh that ends well, and is right."""
        found: list[Followed] = self.asks("refresh")
        assert isinstance(found, list), found
        assert not self.found
        return found

    def acts(self, name: str, *draws: int) -> None:
        """An action of the simulator, without its process judged."""
        filled = (*draws, 0, 0, 0, 0)
        self.judge.before()
        self.world.done = None
        ACTIONS[name].act(self.world, (filled[0], filled[1], filled[2], filled[3]))
        self.judged()

    def ends_well(self) -> None:
        """Whatever was done, the messages lead to a state that is right."""
        self.does("catch up")
        assert not self.found
        assert state_finale(self.judge, self.world) is None

    def names(self) -> dict[int, str | None]:
        """The state's keys, and their names; those that are deleted without."""
        rows = self.world.reader.read(self.world.table(STATE)).rows
        return {row["id"]: None if row["_deleted"] else row["name"] for row in rows}


def _world(setting: int) -> Iterator[States]:
    with a_world(History("states", setting)) as world:
        yield States(world)


@pytest.fixture
def states() -> Iterator[States]:
    """The newest event of a key is that of the greatest `seq`; there is one partition."""
    yield from _world(_ORDERED)


@pytest.fixture
def apart() -> Iterator[States]:
    """The newest event of a key is the last; there are three partitions."""
    yield from _world(_IN_ONE + _THREE_PARTITIONS)


def in_two_versions(states: States) -> None:
    """Key 1 has two events, each a version; key 2 has one. The state has followed both."""
    states.put(1, 1, "a")
    states.put(2, 2, "b")
    states.lands()
    states.follows()
    states.put(1, 3, "c")
    states.lands()
    states.follows()
    assert states.names() == {1: "c", 2: "b"}


def test_late_events_change_nothing_and_deletes_are_kept(states: States) -> None:
    in_two_versions(states)
    states.put(1, 2, "late")
    states.put(2, 9, GONE)
    states.lands()
    (followed,) = states.follows()
    assert (followed.counts.stale, followed.counts.deleted) == (1, 1)
    assert states.names() == {1: "c", 2: None}
    states.ends_well()


def test_a_row_that_others_delete_leaves_the_one_before(states: States) -> None:
    in_two_versions(states)
    states.table().delete("seq = 3")
    (followed,) = states.follows()
    assert followed.span.kind == "rewritten"
    assert states.names() == {1: "a", 2: "b"}
    states.table().delete("id = 1")
    states.follows()
    assert states.names() == {2: "b"}
    states.ends_well()


def test_rows_that_came_and_went_at_once_were_never_there(states: States) -> None:
    in_two_versions(states)
    before = states.table().version()
    states.put(1, 5, "d")
    states.put(3, 6, "e")
    states.lands()
    states.table().delete("id = 3")
    states.table().delete("id = 2")
    states.put(4, 7, "f")
    states.lands()
    states.follows()
    assert states.names() == {1: "d", 4: "f"}
    states.table().restore(before)
    states.follows()
    assert states.names() == {1: "c", 2: "b"}
    states.does("reset", "--to-table")
    states.ends_well()


def test_an_optimize_changes_no_row(states: States) -> None:
    in_two_versions(states)
    states.table().optimize.compact()
    (followed,) = states.follows()
    assert followed.span.kind == "nothing"
    states.put(1, 4, "d")
    states.lands()
    states.table().optimize.compact()
    kinds = [each.span.kind for each in states.follows()]
    assert kinds == ["appended", "nothing"]
    states.ends_well()


def test_a_topic_that_is_created_anew_is_the_newer_one() -> None:
    """Its offsets begin again, below those of the one before."""
    for states in _world(_IN_ONE):
        states.put(2, 1, "x")
        states.put(1, 1, "a")
        states.lands()
        states.follows()
        states.acts("topic created anew")
        states.does("reset", "--to-earliest")
        states.put(1, 2, "b")
        states.lands()
        states.follows()
        assert states.names() == {1: "b", 2: "x"}
        assert isinstance(states.asks("rebuild").done, Followed)
        assert states.names() == {1: "b", 2: "x"}
        states.ends_well()


def test_a_key_in_two_partitions_stops_the_state_until_an_order_is_named(apart: States) -> None:
    apart.put(1, 1)
    apart.lands()
    apart.follows()
    apart.put(1, 2, partition=1)
    apart.lands()
    assert isinstance(apart.asks("refresh"), StateStopped)
    apart.ends_well()


def test_rows_without_a_key_stop_the_state_until_they_may_be_ignored(apart: States) -> None:
    apart.put(1, 1)
    apart.put_without_key()
    apart.lands()
    assert isinstance(apart.asks("refresh"), StateStopped)
    apart.ends_well()


TOUCHED = [
    "others delete from the state",
    "others append to the state",
    "others restore the state",
    "the state is dropped",
    "another table is in the place of the state",
]


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("action", TOUCHED)
def test_a_state_that_others_touched_is_refused_and_made_anew(
    states: States, action: str, draw: int
) -> None:
    in_two_versions(states)
    states.acts(action, draw)
    assert isinstance(states.asks("refresh"), StateRefused)
    states.put(1, 9, "z")
    states.ends_well()


def test_a_state_whose_files_others_only_moved_is_trusted(states: States) -> None:
    in_two_versions(states)
    states.acts("others optimize the state")
    states.put(1, 9, "z")
    states.lands()
    states.follows()
    states.ends_well()


@pytest.mark.parametrize("rule", [{"order_by": ["_timestamp"]}, {"deleted_when": "name = 'c'"}])
def test_a_state_by_other_rules_is_refused(states: States, rule: dict[str, Any]) -> None:
    in_two_versions(states)
    keys = states.world.keys
    states.world.keys = {**keys, "state": {**keys["state"], **rule}}
    states.world.state_reasons.append("other rules")
    assert isinstance(states.asks("refresh"), StateRefused)
    states.ends_well()


def test_a_rebuild_makes_the_state_anew_at_the_version_where_it_stands(states: States) -> None:
    in_two_versions(states)
    states.acts("others delete from the state")
    assert isinstance(states.asks("rebuild").done, Followed)
    assert states.names() == {1: "c", 2: "b"}
    states.ends_well()


@pytest.mark.parametrize("number", range(8))
def test_a_rebuild_that_is_killed_at_any_step_is_made_again(states: States, number: int) -> None:
    in_two_versions(states)
    states.acts("others delete from the state")
    states.world.begin_process(Command(("rebuild",), "killed"), number)
    killed = [each.point for each in states.world.frozen]
    states.world.frozen.clear()
    states.put(1, 9, "z")
    states.lands()
    found = states.asks("refresh")
    if killed and killed[0] not in ("lake: committed", "state committed"):
        assert isinstance(found, StateRefused), killed
    states.ends_well()


@pytest.mark.parametrize("number", range(8))
def test_a_refresh_that_comes_late_changes_nothing(states: States, number: int) -> None:
    in_two_versions(states)
    states.put(1, 5, "d")
    states.lands()
    states.world.begin_process(Command(("refresh",), "late"), number)
    states.put(1, 4, "late")
    states.put(2, 6, "e")
    states.lands()
    states.table().delete("seq = 5")
    states.follows()
    for process in list(states.world.frozen):
        states.judge.before()
        states.world.go_on(process, None)
        states.judged()
    assert not states.found
    assert states.names() == {1: "late", 2: "e"}
    states.ends_well()


def test_a_late_refresh_on_an_older_copy_of_the_state_is_noticed(states: States) -> None:
    """It is based on a version of the log that the copy has not followed."""
    in_two_versions(states)
    states.acts("tables copied")
    states.put(3, 5, "d")
    states.lands()
    states.follows()
    states.put(1, 6, "e")
    states.lands()
    states.world.begin_process(Command(("refresh",), "late"), 0)
    (process,) = states.world.frozen
    assert process.point == "state span known"
    states.acts("the state is put back")
    states.judge.before()
    states.world.go_on(process, None)
    states.judged()
    assert not states.found
    assert isinstance(states.asks("refresh"), StateRefused)
    states.ends_well()


def test_a_state_that_is_ahead_of_an_older_copy_of_the_log_is_refused(states: States) -> None:
    in_two_versions(states)
    states.acts("tables copied")
    for number in range(5):
        states.put(3, 5 + number, "d")
        states.lands()
        states.follows()
    states.acts("the data table is put back")
    states.does("reset", "--to-table")
    assert isinstance(states.asks("refresh"), StateRefused)
    states.ends_well()


def test_a_state_of_a_version_that_an_older_copy_has_again_is_refused(states: States) -> None:
    in_two_versions(states)
    states.acts("tables copied")
    states.put(3, 5, "d")
    states.lands()
    states.follows()
    states.acts("the data table is put back")
    states.does("reset", "--to-table")
    states.put(3, 6, "e")
    states.lands()
    assert isinstance(states.asks("refresh"), StateRefused)
    states.ends_well()


def test_another_state_of_the_same_log_is_refused(states: States) -> None:
    """It was dropped and made anew; then the one that was dropped is there again."""
    in_two_versions(states)
    states.acts("tables copied")
    states.acts("the state is dropped")
    assert isinstance(states.asks("rebuild").done, Followed)
    states.acts("the state is put back")
    assert isinstance(states.asks("refresh"), StateRefused)
    states.ends_well()


def test_a_late_event_alone_moves_the_state_by_an_empty_commit(states: States) -> None:
    in_two_versions(states)
    states.put(1, 2, "late")
    states.lands()
    (followed,) = states.follows()
    assert followed.counts.stale == 1
    assert states.follows() == []
    states.ends_well()


def test_a_state_of_a_table_that_was_replaced_is_refused(states: States) -> None:
    in_two_versions(states)
    states.acts("the data table is cloned")
    states.does("recover")
    assert isinstance(states.asks("refresh"), StateRefused)


# The judge is alive: what is planted in the lake turns it red.


def _older(order: RowOrder, row: dict[str, Any]) -> tuple[Any, ...]:
    return (-row["_offset"],)


def _last(order: RowOrder, row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["_offset"],)


def _counts_one_more(made: Callable[..., Any]) -> Callable[..., Any]:
    def appended(rows: StateRows, added: Any) -> Any:
        changes, counts = made(rows, added)
        return changes, StateCounts(**{**counts.as_dict(), "inserted": counts.inserted + 1})

    return appended


def _nothing(*_: object) -> None:
    return None


PLANTED: dict[str, tuple[object, str, object]] = {
    "the oldest row": (RowOrder, "of", _older),
    "the last row, whatever its order": (RowOrder, "of", _last),
    "no row deletes": (RowOrder, "deletes", lambda *_: False),
    "placeholders stay": (StateRows, "_unavailable", {}),
    "rewritten is appended": (StateRows, "rewritten", lambda rows, _, came: rows.appended(came)),
    "one more is counted": (StateRows, "appended", _counts_one_more(StateRows.appended)),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_lake_that_is_wrong_turns_the_judge_red(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = _FILLED if fault == "placeholders stay" else _ORDERED
    monkeypatch.setattr(*PLANTED[fault])
    for states in _world(setting):
        for name, seq in (("a", 1), ("c", 3), ("b", 2), (UNAVAILABLE, 4), (GONE, 9)):
            states.put(1, seq, name)
            states.lands()
            states.asks("refresh")
            if name == "b":
                states.table().delete("seq = 3")
                states.asks("refresh")
        assert states.found, fault


def test_a_lake_that_does_not_see_two_partitions_turns_the_judge_red(
    apart: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StateRows, "_require_order", _nothing)
    apart.put(1, 1)
    apart.put(1, 2, partition=1)
    apart.lands()
    apart.asks("refresh")
    assert [each.kind for each in apart.found] == ["the state is wrong"]


def test_a_lake_that_stops_for_nothing_turns_the_judge_red(
    states: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stops(*_: object) -> None:
        raise NoOrder("one in t[0]@0 and t[1]@0")

    monkeypatch.setattr(StateRows, "_require_order", stops)
    states.put(1, 1)
    states.lands()
    states.asks("refresh")
    assert [each.kind for each in states.found] == ["the state stops for no reason"]


def test_a_lake_that_passes_over_rows_without_a_key_turns_the_judge_red(
    apart: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_key(rows: StateRows, found: list[Any]) -> Any:
        from collections import Counter

        return rows._sorted(found), Counter()

    monkeypatch.setattr(StateRows, "_by_key", by_key)
    apart.put(1, 1)
    apart.put_without_key()
    apart.lands()
    apart.asks("refresh")
    assert [each.kind for each in apart.found] == ["the state is wrong"]


def test_a_commit_without_its_transaction_id_is_no_success(
    states: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_commit, "app_id", lambda _: "sluice:other:state")
    states.put(1, 1)
    states.lands()
    assert isinstance(states.asks("refresh"), CommitFailed)
