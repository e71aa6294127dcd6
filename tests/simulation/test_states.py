"""The state table follows what happens to its log, as the judge sees it."""

from __future__ import annotations

from sluice.errors import StateStopped
from sluice.protocol.refresh.making import Followed

from tests.simulation.commands import Command
from tests.simulation.settings import GONE
from tests.simulation.state_finale import compared
from tests.simulation.states_by_hand import (
    IN_ONE,
    States,
    in_two_versions,
    state_worlds,
)


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
    states.comes(4, 7, "f")
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
    for states in state_worlds(IN_ONE):
        states.put(2, 1, "x")
        states.comes(1, 1, "a")
        states.begins_anew()
        states.comes(1, 2, "b")
        assert states.names() == {1: "b", 2: "x"}
        assert isinstance(states.asks("rebuild").done, Followed)
        assert states.names() == {1: "b", 2: "x"}
        states.ends_well()


def test_a_topic_that_comes_back_behind_a_later_one_has_no_order() -> None:
    """What it got in between may be newer than the rows of the later one, or older."""
    for states in state_worlds(IN_ONE):
        states.put(2, 1, "x")
        states.comes(1, 1, "a")
        states.acts("brokers copied")
        states.begins_anew()
        states.comes(1, 2, "b")
        states.acts("brokers put back")
        states.put(1, 3, "newer or older")
        states.does("reset", "--to-earliest")
        states.lands()
        for name in ("refresh", "rebuild"):
            stopped = states.asks(name)
            assert isinstance(stopped, StateStopped)
            assert str(stopped).count("topic id") == 2
        assert states.names() == {1: "b", 2: "x"}
        states.ends_well()


def test_what_an_older_copy_of_a_topic_lacked_is_not_what_was_read_before() -> None:
    """Its offsets are those of records that were read, the records are others."""
    for states in state_worlds(IN_ONE):
        states.comes(1, 1, "a")
        states.acts("brokers copied")
        states.comes(2, 2, "a2")
        states.begins_anew()
        states.comes(1, 3, "b")
        states.acts("brokers put back")
        states.does("reset", "--to-earliest")
        states.lands()
        states.put(1, 4, "newer or older")
        states.lands()
        assert isinstance(states.asks("refresh"), StateStopped)
        states.ends_well()


def test_what_a_topic_held_when_it_was_left_stays_older_and_what_comes_after_it_is_newer() -> None:
    for states in state_worlds(IN_ONE):
        states.comes(1, 1, "a")
        states.acts("brokers copied")
        states.begins_anew()
        states.comes(1, 2, "b")
        states.acts("brokers put back")
        states.put(2, 3, "once more")
        states.does("reset", "--to-earliest")
        states.lands()
        states.follows()
        states.begins_anew()
        states.comes(2, 4, "anew")
        assert states.names() == {1: "b", 2: "anew"}
        assert isinstance(states.asks("rebuild").done, Followed)
        states.ends_well()


def test_a_topic_that_a_reset_opened_and_no_batch_read_has_no_place() -> None:
    for states in state_worlds(IN_ONE):
        states.comes(1, 1, "a")
        states.acts("brokers copied")
        states.acts("topic created anew")
        states.does("reset", "--to-latest")
        states.acts("brokers put back")
        states.does("reset", "--to-latest")
        states.comes(1, 2, "a2")
        states.begins_anew()
        states.comes(1, 3, "c")
        assert states.names() == {1: "c"}
        states.ends_well()


def test_topics_whose_plans_are_gone_have_no_order() -> None:
    """A recovery no longer finds the batches that read the former topic."""
    for states in state_worlds(IN_ONE):
        states.put(2, 1, "x")
        states.put(2, 1, "x")
        states.put(3, 1, "older")
        states.comes(1, 1, "a")
        states.begins_anew()
        states.comes(1, 2, "b")
        states.loses_its_plans()
        states.put(3, 4, "newer")
        states.lands()
        assert isinstance(states.world.carry_out(Command(("refresh",))).problem, StateStopped)
        assert states.names() == {1: "b", 2: "x", 3: "older"}


def test_what_is_left_of_the_plans_orders_no_topics() -> None:
    """The former topic comes back behind a recovery, which no longer knows that it was read."""
    for states in state_worlds(IN_ONE):
        states.comes(1, 1, "a")
        states.acts("brokers copied")
        states.begins_anew()
        states.comes(1, 2, "b")
        states.loses_its_plans()
        states.put(2, 3, "of the later topic")
        states.lands()
        states.acts("brokers put back")
        states.put(2, 4, "newer or older")
        states.does("reset", "--to-earliest")
        states.lands()
        assert isinstance(states.world.carry_out(Command(("refresh",))).problem, StateStopped)
        assert states.names() == {1: "b"}


def test_a_comparison_leaves_out_the_keys_that_a_recovery_has_left_without_an_order() -> None:
    for states in state_worlds(IN_ONE):
        states.put(2, 1, "x")
        states.comes(1, 1, "a")
        states.begins_anew()
        states.comes(1, 2, "b")
        states.loses_its_plans()
        states.world.carry_out(Command(("refresh",)))
        found = compared(states.world)
        assert (found.is_exact, found.differing, found.unordered) == (True, 0, 1)
        assert str(found).endswith("1 key not compared: nothing says which row is the newest")


def test_a_key_in_two_partitions_stops_the_state_until_an_order_is_named(apart: States) -> None:
    apart.comes(1, 1)
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


def test_a_late_event_alone_moves_the_state_by_an_empty_commit(states: States) -> None:
    in_two_versions(states)
    states.put(1, 2, "late")
    states.lands()
    (followed,) = states.follows()
    assert followed.counts.stale == 1
    assert states.follows() == []
    states.ends_well()
