"""A topic that the spec leaves out for a while: what is said of its records is true."""

from __future__ import annotations

import shutil

import pytest
from sluice.offsets.quarantined import RecordFilter
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.backfill.selection import Selection, whole_batches

from tests.simulation.by_hand import Hand
from tests.simulation.settings import LOOSE
from tests.worlds.memory_log import Record


def with_topic_u(hand: Hand, *values: bytes) -> None:
    """Both topics are read, the other one with these records."""
    world = hand.world
    world.kafka.create_topic("u", 1)
    world.keys = {**world.keys, "topics": ["t", "u"]}
    now = int(world.clock.now().timestamp() * 1000)
    world.kafka.produce("u", 0, [Record(value, b"k", now, ()) for value in values], None)
    hand.produce(0)
    hand.does("run")


def test_what_is_gone_with_the_table_is_told_of_such_a_topic_as_well(hand: Hand) -> None:
    with_topic_u(hand, b'{"id": 10}', b'{"id": 11}')
    world = hand.world
    world.kafka.delete_records(TopicPartition("u", 0), 2)
    world.keys = {**world.keys, "topics": ["t"]}
    hand.does("run")
    shutil.rmtree(world.table("trips"))
    hand.refused()
    hand.does("recover")
    (told,) = hand.told_losses()
    assert (told["topic"], told["start_offset"], told["end_offset"]) == ("u", 0, 2)
    world.keys = {**world.keys, "topics": ["t", "u"]}
    hand.does("run")
    hand.is_exact(0, 1)


@pytest.mark.parametrize(
    "selection",
    [quarantined_records(RecordFilter()), whole_batches(["forward-1-1"])],
    ids=["replay", "a whole batch"],
)
def test_nothing_is_called_gone_that_was_not_asked_for(hand: Hand, selection: Selection) -> None:
    """Whoever believes that Kafka no longer holds it drops the record."""
    with_topic_u(hand, b'{"id": 11, "extra": "text"}')
    hand.world.keys = {**hand.world.keys, "topics": ["t"], "format": LOOSE}
    found = hand.world.pipeline().backfill(selection, "mended", "somebody", False)
    (left_out,) = found.plan.left_out
    assert str(left_out.offsets) == "u[0] [0, 1)"
    assert left_out.reason == "the spec does not name its topic; the rows that are there stay"
