"""What `verify` names against a difference puts it right, played by hand."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

from tests.simulation.by_hand import Hand
from tests.simulation.operator import command_of


def gone(hand: Hand, *offsets: int) -> None:
    """Rows vanish from their files, without a commit."""
    for name in hand.table().file_uris():
        rows = pq.ParquetFile(name).read()
        kept = [each not in offsets for each in rows["_offset"].to_pylist()]
        pq.write_table(rows.filter(pa.array(kept)), name)


def repeated(hand: Hand, offset: int, **other: object) -> None:
    """Others add the row of an offset once more, with other values in some columns."""
    rows = hand.table().to_pyarrow_table()
    (row,) = (each for each in rows.to_pylist() if each["_offset"] == offset)
    again = pa.Table.from_pylist([row | other], schema=rows.schema)
    write_deltalake(hand.world.table("trips"), again, mode="append")


def does_as_told(hand: Hand, *ranges: str) -> None:
    (told,) = hand.world.pipeline().verify(lambda *_: None).advice
    (move,) = told.moves
    assert move.arguments[2::2] == ranges
    done = hand.world.carry_out(command_of(move, "as told"))
    assert done.green, done.problem
    hand.is_exact()


def test_missing_rows_are_read_again(hand: Hand) -> None:
    hand.produce(0, 1, 2, 3, 4)
    hand.does("run")
    gone(hand, 1, 3)
    does_as_told(hand, "t[0] [1, 2)", "t[0] [3, 4)")


def test_of_rows_that_are_missing_far_and_wide_the_first_are_named(hand: Hand) -> None:
    """Between them may be what others deleted, or what is skipped."""
    hand.produce(*range(60))
    hand.does("run")
    gone(hand, *range(1, 60, 2))
    (told,) = hand.world.pipeline().verify(lambda *_: None).advice
    (move,) = told.moves
    assert len(move.arguments[2::2]) == 20
    assert hand.world.carry_out(command_of(move, "as told")).green
    does_as_told(hand, *(f"t[0] [{at}, {at + 1})" for at in range(41, 60, 2)))


def test_what_the_next_run_reads_again_is_not_named(hand: Hand) -> None:
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    hand.does("reset", "--to-offsets", "t[0]=2")
    gone(hand, 1, 2)
    does_as_told(hand, "t[0] [1, 2)")


def test_repeated_rows_are_replaced_whatever_batch_they_name(hand: Hand) -> None:
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    repeated(hand, 1)
    repeated(hand, 2, _batch="theirs")
    does_as_told(hand, "t[0] [1, 3)")


def test_a_row_that_no_batch_has_read_goes_by_hand(hand: Hand) -> None:
    """Where it names a batch, that counts a row too many until it is read again."""
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    repeated(hand, 1, _offset=77)
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert {each.invariant for each in verdict.violations} == {"no phantom", "accounted"}
    assert verdict.advice == ()
    hand.table().delete("_offset = 77")
    (left,) = hand.world.pipeline().verify(lambda *_: None).violations
    assert left.invariant == "accounted"
    hand.does("reprocess", "--batch", "forward-1-1")
    hand.is_exact()


def test_what_kafka_no_longer_holds_is_not_promised(hand: Hand) -> None:
    for each in range(4):
        hand.produce(each)
    hand.does("run")
    repeated(hand, 0)
    at = next(iter(hand.world.pipeline().resources.kafka.state(hand.world.pipeline().spec).logs))
    hand.world.kafka.delete_records(at, 2)
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert "unique" in {each.invariant for each in verdict.violations}
    assert verdict.advice == ()


def test_what_others_deleted_is_not_read_again_where_their_files_are_gone(hand: Hand) -> None:
    """Maintenance has removed them: nothing tells which row it was."""
    hand.produce(0, 1, 2)
    hand.does("run")
    hand.table().delete("_offset = 1")
    hand.is_exact()
    hand.world.clock.advance(timedelta(days=8))
    hand.does("maintain")
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert {each.invariant for each in verdict.violations} == {"complete", "accounted"}
    (told,) = verdict.advice
    assert "others took rows away in version" in str(told)
    assert [each.command for each in told.moves] == ["verify"]
    later = hand.world.pipeline().verify(lambda *_: None, hand.world.clock.now())
    assert not later.violations
