"""A recovery of the quarantine that is killed behind its plan, played by hand."""

from __future__ import annotations

import shutil

import pytest
from sluice.offsets.ranges import TopicPartition

from tests.simulation.by_hand import BROKEN, Hand

PARTITION = TopicPartition("t", 0)


def test_what_is_planned_again_is_missing_until_it_lands_and_verify_says_where_it_is(
    hand: Hand,
) -> None:
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.quarantine.delete()
    hand.refused()
    hand.world.frozen.remove(hand.stops_at("plan durable", "quarantine", "recover"))
    hand.does("run")
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert {each.invariant for each in verdict.violations} == {"complete", "accounted"}
    (way_on,) = map(str, verdict.advice)
    assert "backfill-1-1. The next backfill lands them" in way_on
    hand.does("quarantine", "recover")
    hand.is_exact()
    assert not hand.world.pipeline().verify(lambda *_: None).advice


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
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.does("reset", "--to-earliest")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    hand.does("quarantine", "recover")
    hand.world.left_out += [0] * 3
    hand.refused()
    hand.world.left_out.clear()
    hand.does("verify", "--accept-gap", "t[0] [0, 1)")
    (told,) = hand.told_losses()
    assert told["reason"].startswith("present in the log but not in the table; accepted by")
    hand.does("quarantine", "recover")
    hand.is_exact(0)
    assert hand.quarantine.to_pyarrow_table()["_offset"].to_pylist() == [0]
