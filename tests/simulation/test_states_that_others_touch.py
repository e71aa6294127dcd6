"""A state table that others have changed, or that is late, is refused, and made anew."""

from __future__ import annotations

from typing import Any

import pytest
from sluice.errors import StateRefused
from sluice.protocol.refresh.making import Followed

from tests.simulation.commands import Command
from tests.simulation.states_by_hand import (
    States,
    in_two_versions,
)

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
    states.comes(1, 9, "z")
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


def test_a_late_refresh_on_an_older_copy_of_the_state_looks_again(states: States) -> None:
    """It is based on a version of the log that the copy has not followed."""
    in_two_versions(states)
    states.acts("tables copied")
    states.comes(3, 5, "d")
    states.put(1, 6, "e")
    states.lands()
    states.world.begin_process(Command(("refresh",), "late"), 1)
    (process,) = states.world.frozen
    assert process.point == "state span known"
    states.acts("the state is put back")
    states.acts("others optimize the state")
    states.judge.before()
    states.world.go_on(process, None)
    states.judged()
    assert not states.found
    states.follows()
    assert states.names() == {1: "e", 2: "b", 3: "d"}
    states.ends_well()


def test_a_state_that_is_ahead_of_an_older_copy_of_the_log_is_refused(states: States) -> None:
    in_two_versions(states)
    states.acts("tables copied")
    for number in range(5):
        states.comes(3, 5 + number, "d")
    states.acts("the data table is put back")
    states.does("reset", "--to-table")
    assert isinstance(states.asks("refresh"), StateRefused)
    states.ends_well()


def test_a_state_of_a_version_that_an_older_copy_has_again_is_refused(states: States) -> None:
    in_two_versions(states)
    states.acts("tables copied")
    states.comes(3, 5, "d")
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


def test_a_state_of_a_table_that_was_replaced_is_refused(states: States) -> None:
    in_two_versions(states)
    states.acts("the data table is cloned")
    states.does("recover")
    assert isinstance(states.asks("refresh"), StateRefused)
