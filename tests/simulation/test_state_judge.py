"""The judge of the state table is alive: what is planted in the lake turns it red."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from sluice.errors import CommitFailed
from sluice.lake.port import NoOrder
from sluice.state_table.counts import StateCounts

from tests.simulation.settings import GONE, UNAVAILABLE
from tests.simulation.states_by_hand import (
    FILLED,
    ORDERED,
    States,
    state_worlds,
)
from tests.worlds.written_lake import state_commit
from tests.worlds.written_lake.row_order import RowOrder
from tests.worlds.written_lake.state_rows import StateRows


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
    setting = FILLED if fault == "placeholders stay" else ORDERED
    monkeypatch.setattr(*PLANTED[fault])
    for states in state_worlds(setting):
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
