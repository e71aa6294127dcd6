"""What others do to the tables between two steps, played by hand: told, and with a way out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sluice.errors import RowsErased, TableRefused
from sluice.moves import Move
from sluice.offsets.ranges import TopicPartition

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.history import History
from tests.simulation.operator import command_of
from tests.simulation.play import a_world
from tests.simulation.restores import restore
from tests.simulation.told import read_tables

PARTITION = TopicPartition("t", 0)
# A setting whose topic compacts.
COMPACTING = 9


@pytest.fixture
def hand() -> Iterator[Hand]:
    yield from _hand(0)


@pytest.fixture
def compacting() -> Iterator[Hand]:
    yield from _hand(COMPACTING)


def _hand(setting: int) -> Iterator[Hand]:
    with a_world(History("by hand", setting)) as world:
        yield Hand(world)


def test_a_gap_that_was_filled_excuses_no_quarantined_record(hand: Hand) -> None:
    hand.has_a_filled_gap(BROKEN)
    hand.quarantine.delete("_offset = 1")
    assert "found some gone: 1 of forward-1-1, in t[0] [1, 2)" in str(hand.refused())
    hand.world.kafka.delete_records(PARTITION, 4)
    hand.does("quarantine", "recover")
    hand.is_exact(1, 2)


def test_a_gap_that_was_filled_excuses_no_row_that_a_copy_lacks(hand: Hand) -> None:
    hand.has_a_filled_gap(1)
    hand.copies_rows(0)
    hand.refused()
    hand.does("recover")
    hand.produce(9)
    hand.does("run")
    hand.world.kafka.delete_records(PARTITION, 4)
    hand.is_exact(0, 2)


@pytest.mark.parametrize("how", ["compacted", "a lost segment"])
def test_a_quarantined_record_that_is_gone_from_the_middle_of_the_log_is_lost(
    compacting: Hand, hand: Hand, how: str
) -> None:
    """It has no row, and Kafka holds the log, but not the record."""
    found = compacting if how == "compacted" else hand
    for each in (0, BROKEN, 2, 3):
        found.produce(each)
    found.does("run")
    found.quarantine.delete("_offset = 1")
    if how == "compacted":
        found.world.kafka.compact("t")
    else:
        found.world.kafka.lose(PARTITION, 1, 2)
    assert isinstance(found.refused(), TableRefused)
    found.does("quarantine", "recover")
    found.is_exact(1)


def test_what_may_have_been_deleted_comes_back_only_if_somebody_says_so(hand: Hand) -> None:
    """The data table's log no longer tells that a row was deleted: its offset looks like another.

    A quarantined record of the same batch is gone as well.
    """
    hand.produce(0, BROKEN, 2, 3)
    hand.does("run")
    hand.table().delete("_offset = 2")
    hand.forgets_its_log()
    hand.quarantine.delete("_offset = 1")
    assert hand.refused().moves == (Move("quarantine recover", ("trips",)),)
    before = hand.versions()
    problem = hand.refused("quarantine", "recover")
    assert isinstance(problem, RowsErased)
    assert "t[0] [1, 3): may have been rows that others deleted" in str(problem)
    assert hand.versions() == before, "nothing is written"
    (move,) = problem.moves
    hand.does(*command_of(move, "told").words)
    hand.is_exact()
    assert hand.rows() == [0, 2, 3]


def test_what_may_have_been_deleted_with_files_that_are_gone_is_asked_about(hand: Hand) -> None:
    hand.produce(0, BROKEN, 2, 3)
    hand.does("run")
    hand.table().delete("_offset = 2")
    deleted = hand.table().version()
    hand.table().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    hand.quarantine.delete("_offset = 1")
    hand.refused()
    problem = hand.refused("quarantine", "recover")
    assert isinstance(problem, RowsErased)
    assert (
        f"files that others removed from the data table are gone (version {deleted} a DELETE)"
        in (str(problem))
    )
    hand.does("quarantine", "recover", "--bring-back-erased")
    hand.is_exact()


def test_a_copy_tells_of_no_deletion(hand: Hand) -> None:
    """Rows that it lacks were told as left behind; of others that were deleted since, it tells."""
    hand.produce(0, BROKEN, 2, 3)
    hand.does("run")
    hand.copies_rows(2)
    hand.refused()
    hand.does("recover")
    hand.quarantine.delete("_offset = 1")
    hand.table().delete("_offset = 3")
    hand.refused()
    hand.does("quarantine", "recover")
    hand.does("run")
    assert hand.rows() == [0]


def test_a_deletion_that_is_known_stays_and_nobody_is_asked(hand: Hand) -> None:
    hand.produce(0, BROKEN, 2, 3)
    hand.does("run")
    hand.table().delete("_offset = 2")
    hand.quarantine.delete("_offset = 1")
    hand.refused()
    hand.does("quarantine", "recover")
    hand.is_exact()
    assert hand.rows() == [0, 3]


@pytest.mark.parametrize("cleaned", [False, True], ids=["whole log", "cleaned log"])
def test_where_all_rows_of_the_batch_are_there_nobody_is_asked(hand: Hand, cleaned: bool) -> None:
    hand.produce(0, BROKEN, 2, 3)
    hand.does("run")
    hand.produce(4)
    hand.does("run")
    if cleaned:
        hand.forgets_its_log()
    hand.quarantine.delete("_offset = 1")
    hand.refused()
    hand.does("quarantine", "recover")
    hand.is_exact()
    assert hand.rows() == [0, 2, 3, 4]


def test_a_deletion_between_the_look_and_the_closing_is_not_buried(hand: Hand) -> None:
    hand.produce(0, BROKEN)
    hand.does("run")
    hand.produce(2, BROKEN)
    settling = hand.stops_at("before receipt")
    hand.quarantine.delete("_offset = 1")
    hand.world.go_on(settling, None)
    assert "found some gone: 1 of forward-1-1" in str(hand.refused())
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_a_deletion_during_a_recovery_is_told_to_the_next_one(hand: Hand) -> None:
    hand.produce(0, BROKEN)
    hand.does("run")
    hand.produce(2, BROKEN)
    hand.does("run")
    hand.quarantine.delete("_offset = 3")
    hand.refused()
    recovering = hand.stops_at("plan durable", "quarantine", "recover")
    hand.quarantine.delete("_offset = 1")
    hand.world.go_on(recovering, None)
    hand.refused()
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_a_restore_of_a_copy_to_where_its_rows_came_undoes_none_of_them(hand: Hand) -> None:
    hand.produce(0, 1)
    hand.does("run")
    hand.copies_rows()
    rows = hand.table().version()
    hand.table().alter.set_table_properties({"delta.logRetentionDuration": "interval 40 days"})
    hand.refused()
    hand.does("recover")
    hand.produce(2)
    hand.does("run")
    restore(hand.world, "trips", rows)
    assert "found forward-2-1 undone" in str(hand.refused())
    hand.does("reset", "--to-table")
    hand.is_exact()


def test_an_older_data_table_beside_a_closed_quarantine_is_refused_by_name(
    hand: Hand, tmp_path: Path
) -> None:
    """Killed between closing and receipt; then a copy of the data table is put back."""
    hand.produce(0, BROKEN)
    hand.does("run")
    shutil.copytree(hand.world.table("trips"), tmp_path / "trips")
    hand.produce(2, BROKEN)
    process = hand.stops_at("quarantine to close")
    hand.goes_up_to("offsets to commit", process)
    shutil.rmtree(hand.world.table("trips"))
    shutil.copytree(tmp_path / "trips", hand.world.table("trips"))
    hand.world.frozen.clear()
    problem = hand.refused()
    assert "is closed, found that it has not landed" in str(problem)
    assert problem.moves == (Move("reset", ("trips", "--to-table")),)
    hand.does("reset", "--to-table")
    hand.is_exact()


def test_a_deletion_that_a_restore_has_brought_back_stays_before_an_interrupted_reset(
    hand: Hand,
) -> None:
    hand.produce(0, 1, 2)
    hand.does("run")
    hand.table().delete("_offset = 1")
    deleted = hand.table().version()
    restore(hand.world, "trips", deleted - 1)
    hand.does("run")
    hand.stops_at("reset intended", "reset", "--to-earliest")
    hand.world.frozen.clear()
    restore(hand.world, "trips", deleted)
    assert isinstance(hand.refused(), RowsErased)
    hand.does("reset", "--shift-by", "0")
    hand.does("run")
    assert sorted(row["_offset"] for row in read_tables(hand.world).data.rows) == [0, 2]
