"""Rows of attempts that did not commit their batch are brought back: never in silence, or for good.

A batch is read twice: first with a schema by which two of its records cannot be decoded, and it is
stopped; then with one by which a single one cannot.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from deltalake import DeltaTable
from sluice.errors import TableRefused
from sluice.moves import Move

from tests.simulation.actions import ACTIONS
from tests.simulation.by_hand import Hand
from tests.simulation.finale import finale
from tests.simulation.history import History, Step
from tests.simulation.judge import Judge
from tests.simulation.play import a_world, act
from tests.simulation.restores import restore
from tests.simulation.told import read_tables
from tests.simulation.world import World

QUARANTINE = "trips__quarantine"
_GOOD, _LOOSELY, _BROKEN = (Step("produce", (0, 0, each, 0)) for each in (0, 17, 16))
_RECOVER = Move("quarantine recover", ("trips",))


@pytest.fixture
def world() -> Iterator[World]:
    with a_world(History("attempts come back", 0)) as made:
        judge = Judge(made)
        for step in (_GOOD, Step("run"), _GOOD, _LOOSELY, _BROKEN):
            assert act(judge, made, step) is None
        yield made


def aside(world: World) -> list[int]:
    return sorted(row["_offset"] for row in read_tables(world).quarantine.rows)


def refused(world: World) -> str:
    problem = Hand(world).refused("catch up")
    assert isinstance(problem, TableRefused)
    assert problem.moves == (_RECOVER,)
    return str(problem)


def ends_well(world: World) -> None:
    assert aside(world) == [3]
    assert not world.pipeline().verify(lambda *_: None).violations
    assert finale(Judge(world), world) is None


def test_a_restore_of_them_is_refused_until_they_are_removed(world: World) -> None:
    Hand(world).stops_at("quarantine written")
    both = DeltaTable(world.table(QUARANTINE)).version() + 1
    ACTIONS["the schema changes"].act(world, (0, 0, 0, 0))
    Hand(world).does("catch up")
    assert aside(world) == [3]
    restore(world, QUARANTINE, both)
    assert aside(world) == [2, 3, 3]
    assert "found more of forward-1-2" in refused(world)
    Hand(world).does("quarantine", "recover")
    ends_well(world)


def test_they_stand_for_nothing_that_is_gone(world: World) -> None:
    Hand(world).stops_at("quarantine written")
    first = DeltaTable(world.table(QUARANTINE)).version()
    ACTIONS["the schema changes"].act(world, (0, 0, 0, 0))
    Hand(world).does("catch up")
    restore(world, QUARANTINE, first)
    assert aside(world) == [2, 3]
    assert "found some gone: 1 of forward-1-2" in refused(world)
    Hand(world).does("quarantine", "recover")
    Hand(world).does("catch up")
    assert aside(world) == [3]
    ends_well(world)


@pytest.mark.parametrize("closed", [True, False], ids=["closed generation", "open generation"])
def test_a_zombie_adds_nothing_to_a_table_that_was_made_anew(world: World, closed: bool) -> None:
    """It has asked for its ticket while another table was in its place."""
    zombie = Hand(world).stops_at("lake: snapshot taken", nth=2)
    ACTIONS["the schema changes"].act(world, (0, 0, 0, 0))
    Hand(world).does("catch up")
    if closed:
        Hand(world).does("reset", "--shift-by", "0")
    act(Judge(world), world, _GOOD)
    Hand(world).does("catch up")
    shutil.rmtree(world.table(QUARANTINE))
    refused(world)
    Hand(world).does("quarantine", "recover")
    Hand(world).does("catch up")
    world.go_on(zombie, None)
    ends_well(world)


def test_what_is_gone_is_missed_once_it_counts_again(world: World) -> None:
    """Rows of a batch that a RESTORE had undone are deleted; another RESTORE brings it back."""
    Hand(world).does("catch up")
    after = DeltaTable(world.table("trips")).version()
    before = after - 1
    restore(world, "trips", before)
    Hand(world).does("reset", "--to-table")
    DeltaTable(world.table(QUARANTINE)).delete("_offset = 3")
    Hand(world).does("catch up")
    restore(world, "trips", after)
    Hand(world).does("reset", "--to-table")
    assert "behind a reset" in refused(world)
    Hand(world).does("quarantine", "recover")
    Hand(world).does("catch up")
    assert not world.pipeline().verify(lambda *_: None).violations
    assert finale(Judge(world), world) is None
