"""Rows that others INSERT into the quarantine: a run refuses them, and one command removes them.

What lacks a name or a coordinate, or names no batch that was planned, is nobody's. What cannot be
told from a batch's own rows goes with them, and they are read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from sluice.errors import TableRefused
from sluice.moves import Move
from sluice.offsets.ranges import TopicPartition
from sluice.operations.quarantine.listing import list_quarantine

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.history import History
from tests.simulation.play import a_world
from tests.simulation.restores import restore

_LATER = datetime(2031, 1, 1, tzinfo=UTC)
# What differs from the row of offset 1, which forward-1-1 has in quarantine.
OTHERS: dict[str, dict[str, Any]] = {
    "the same once more": {},
    "the same at an offset with a row": {"_offset": 0},
    "the same at another batch's offset": {"_offset": 2},
    "the same at an offset that was never read": {"_offset": 77},
    "the same of another topic": {"_topic_id": "another"},
    "another attempt's": {"quarantined_at": _LATER},
    "a batch's that has nothing in quarantine": {"_batch": "forward-1-2"},
    "without an offset": {"_offset": None},
    "without a moment": {"quarantined_at": None},
    "without a batch": {"_batch": None},
    "of a batch that is none": {"_batch": "it's theirs"},
    "of a batch that was never planned": {"_batch": "forward-1-9"},
    "of the other lane": {"_batch": "backfill-1-1"},
    "of a generation that never began": {"_batch": "forward-7-1"},
}


@pytest.fixture
def hand() -> Iterator[Hand]:
    with a_world(History("others add rows", 0)) as world:
        made = Hand(world)
        made.produce(0, BROKEN)
        made.does("run")
        made.produce(2, 3)
        made.does("run")
        yield made


def add(hand: Hand, **changed: Any) -> None:
    """A row like that of offset 1, but for these columns."""
    there = hand.quarantine.to_pyarrow_table()
    (row,) = [each for each in there.to_pylist() if each["_offset"] == 1]
    added = pa.Table.from_pylist([{**row, **changed}], schema=there.schema)
    write_deltalake(hand.world.table("trips__quarantine"), added, mode="append")


def aside(hand: Hand) -> list[int]:
    return hand.quarantine.to_pyarrow_table()["_offset"].to_pylist()


@pytest.mark.parametrize("cleaned", [False, True], ids=["whole log", "cleaned log"])
@pytest.mark.parametrize("changed", OTHERS.values(), ids=OTHERS)
def test_they_are_refused_and_removed(hand: Hand, changed: dict[str, Any], cleaned: bool) -> None:
    if cleaned:
        hand.forgets_its_log()
    add(hand, **changed)
    list_quarantine(hand.world.pipeline().resources)
    problem = hand.refused()
    assert isinstance(problem, TableRefused)
    assert problem.moves == (Move("quarantine recover", ("trips",)),)
    (told,) = hand.world.pipeline().verify(lambda *_: None).advice
    assert told.moves == problem.moves, "verify says what stops the run"
    before = hand.versions()
    preview = hand.previews_quarantine()
    assert preview.removes or preview.strangers
    assert hand.versions() == before
    hand.does("quarantine", "recover")
    hand.is_exact()
    hand.does("maintain")
    assert aside(hand) == [1]
    assert not hand.previews_quarantine()


def test_what_cannot_be_told_apart_stays_where_kafka_no_longer_holds_it(hand: Hand) -> None:
    """A RESTORE leads on, which both messages name first."""
    add(hand)
    version = hand.quarantine.version()
    assert f"RESTORE the table to version {version - 1}" in str(hand.refused())
    hand.world.kafka.delete_records(TopicPartition("t", 0), 2)
    before = hand.versions()
    problem = hand.refused("quarantine", "recover")
    assert "expected t[0] [1, 2) of forward-1-1 to be kept" in str(problem)
    assert hand.versions() == before
    restore(hand.world, "trips__quarantine", version - 1)
    hand.is_exact()
    assert aside(hand) == [1]


def test_they_are_removed_before_the_first_receipt(hand: Hand) -> None:
    hand.does("reset", "--to-earliest")
    add(hand, _batch=None)
    hand.refused()
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_a_row_that_was_put_in_again_as_it_was_is_no_fault(hand: Hand) -> None:
    row = hand.quarantine.to_pyarrow_table()
    hand.quarantine.delete("_offset = 1")
    write_deltalake(hand.world.table("trips__quarantine"), row, mode="append")
    hand.is_exact()


def test_they_wait_for_nothing_beside_a_batch_that_has_not_landed(hand: Hand) -> None:
    hand.produce(BROKEN)
    process = hand.stops_at("quarantine written")
    add(hand, _batch="forward-1-3", _offset=4, quarantined_at=None)
    add(hand, _batch="forward-1-3", _offset=4, quarantined_at=_LATER)
    hand.world.go_on(process, None)
    hand.refused()
    hand.does("quarantine", "recover")
    hand.is_exact()
    assert sorted(aside(hand)) == [1, 4]
