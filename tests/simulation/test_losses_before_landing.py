"""What Kafka loses between a plan that reads again and its landing, played by hand."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest
from sluice.offsets.ranges import TopicPartition

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.settings import LOOSE
from tests.worlds.memory_log import Record

PARTITION = TopicPartition("t", 0)


@pytest.mark.parametrize("point", ["plan durable", "before receipt"])
def test_what_retention_takes_meanwhile_is_lost_of_the_batch_that_had_it(
    hand: Hand, point: str
) -> None:
    hand.produce(BROKEN, 1)
    hand.does("run")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    hand.refused()
    recovering = hand.stops_at(point, "quarantine", "recover")
    hand.world.kafka.delete_records(PARTITION, 2)
    hand.goes_on(recovering)
    hand.is_exact(*([0] if point == "plan durable" else []))
    assert hand.world.pipeline().verify(lambda *_: None).lost == (point == "plan durable")


def test_where_the_table_stayed_the_recovery_stops_and_once_more_tells_it(hand: Hand) -> None:
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.quarantine.delete()
    recovering = hand.stops_at("plan durable", "quarantine", "recover")
    hand.world.kafka.delete_records(PARTITION, 2)
    stopped = hand.world.go_on(recovering, None)
    assert stopped is not None
    assert "`sluice quarantine recover trips`" in str(stopped.problem)
    hand.does("quarantine", "recover")
    hand.is_exact(0)


@pytest.mark.parametrize("point", ["plan durable", "before receipt"])
def test_what_retention_takes_from_a_rewind_is_lost_of_the_batch_that_had_it(
    hand: Hand, point: str
) -> None:
    hand.world.keys["on_data_loss"] = "record"
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.does("reset", "--to-earliest")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    hand.does("quarantine", "recover")
    running = hand.stops_at(point)
    hand.world.kafka.delete_records(PARTITION, 1)
    hand.goes_on(running)
    hand.is_exact(*([0] if point == "plan durable" else []))


def test_what_a_person_gives_up_for_a_rewind_is_not_told_as_gone_from_kafka(hand: Hand) -> None:
    """Kafka holds it: it can be read again, for the batch that had it in quarantine."""
    _left_out_of_a_rewind(hand)
    hand.does("verify", "--accept-gap", "t[0] [0, 1)")
    (told,) = hand.told_losses()
    assert told["reason"].startswith("present in the log but not in the table; accepted by")
    hand.does("quarantine", "recover")
    hand.is_exact(0)
    assert hand.quarantine.to_pyarrow_table()["_offset"].to_pylist() == [0]


def test_what_a_person_gives_up_that_kafka_has_lost_is_lost_by_that_person(hand: Hand) -> None:
    _left_out_of_a_rewind(hand)
    hand.world.kafka.delete_records(PARTITION, 1)
    hand.refused()
    hand.does("verify", "--accept-gap", "t[0] [0, 1)")
    gap, record = hand.told_losses()
    assert gap["reason"].startswith("below the log start")
    assert record["reason"].startswith("gone from quarantine, and from the log; accepted by sim")
    hand.is_exact(0)


def test_a_skip_that_is_older_hides_no_record_that_a_recovery_has_lost(hand: Hand) -> None:
    """Its loss row explains the gap already: verify names what tells the rest."""
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.does("reset", "--to-earliest")
    hand.does("reset", "--skip", "t[0]@0")
    hand.does("run")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    recovering = hand.stops_at("plan durable", "quarantine", "recover")
    hand.world.kafka.delete_records(PARTITION, 1)
    hand.goes_on(recovering)
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert verdict.violations
    (way_on,) = map(str, verdict.advice)
    assert "1 of forward-1-1, in t[0] [0, 1). `sluice quarantine recover trips`" in way_on
    hand.does("quarantine", "recover")
    hand.is_exact(0)


def test_a_quarantine_that_cannot_be_read_keeps_no_receipt_from_being_written(hand: Hand) -> None:
    hand.produce(BROKEN, 1, BROKEN)
    hand.does("run")
    reading = hand.stops_at("plan durable", "reprocess", "--range", "t[0] [0, 1)")
    hand.world.kafka.delete_records(PARTITION, 1)
    hand.goes_up_to("before receipt", reading)
    _loses_its_files(hand)
    hand.goes_on(reading)
    hand.does("run")


def test_nor_a_first_generation_from_going_on(hand: Hand) -> None:
    """What was never read again lacks nothing with what Kafka has lost."""
    hand.world.keys["on_data_loss"] = "record"
    hand.produce(BROKEN, 1)
    hand.does("run")
    _loses_its_files(hand)
    hand.produce(2, 3)
    hand.world.kafka.delete_records(PARTITION, 3)
    hand.does("run")
    assert [each["start_offset"] for each in hand.told_losses()] == [2]


def _is_to_be_read_again(hand: Hand) -> None:
    """A quarantined record, by a rewind; its table is gone, and a recovery has nothing to do."""
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.does("reset", "--to-earliest")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    hand.does("quarantine", "recover")


def _left_out_of_a_rewind(hand: Hand) -> None:
    _is_to_be_read_again(hand)
    hand.world.left_out += [0] * 3
    hand.refused()
    hand.world.left_out.clear()


def _loses_its_files(hand: Hand) -> None:
    for each in hand.world.table("trips__quarantine").rglob("*.parquet"):
        each.unlink()


def test_what_a_reset_passes_over_that_was_to_be_read_again_stops_the_next_run(hand: Hand) -> None:
    _is_to_be_read_again(hand)
    hand.does("reset", "--to-latest")
    assert "1 of forward-1-1, in t[0] [0, 1)" in str(hand.refused())
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_what_a_recovery_gives_up_that_was_to_be_read_again_stops_the_next_run(hand: Hand) -> None:
    hand.produce(BROKEN, 1)
    hand.does("run")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    recovering = hand.stops_at("plan durable", "quarantine", "recover")
    hand.copies_rows()
    stopped = hand.world.go_on(recovering, None)
    assert stopped is not None
    assert not stopped.green
    hand.does("recover")
    assert "1 of forward-1-1, in t[0] [0, 1)" in str(hand.refused())
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_a_reset_that_passes_nothing_over_asks_for_none_that_was_read_again(hand: Hand) -> None:
    """Nor where nothing is left that tells what became of a row: the run before went on as well."""
    hand.produce(b'{"id": 1, "extra": "text"}', 1)
    transaction = hand.world.kafka.begin()
    hand.world.kafka.produce("t", 0, [Record(b"{}", b"k", 0, ())], transaction)
    hand.world.kafka.abort(transaction)
    hand.produce(7)
    hand.does("run")
    hand.world.keys["format"] = LOOSE
    hand.does("reprocess", "--batch", "forward-1-1")
    hand.world.clock.advance(timedelta(days=9))
    for _ in range(2):
        hand.does("maintain")
    hand.table().delete("_offset = 0")
    hand.produce(8)
    hand.does("run")
    hand.forgets_its_log()
    hand.does("run")
    hand.does("reset", "--shift-by", "0")
    hand.does("run")
    hand.does("reset", "--to-latest")
    hand.does("run")
