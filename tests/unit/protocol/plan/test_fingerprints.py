"""Whether a log is the one that was read is told by record batches and topic ids."""

from __future__ import annotations

import pytest
from sluice.offsets.ranges import TopicPartition
from sluice.protocol.plan.fingerprints import compare_fingerprints, ends_held, unmoved

from tests.unit.builders import batch, log, offsets, partition, planned, state

AT = partition()


def test_only_what_the_log_still_holds_can_be_asked_about() -> None:
    whole = batch(*(offsets(10, 40, number) for number in range(6)), offsets(0, 0, 6))
    logs = [log(0, 40), log(39, 90), log(40, 90), log(0, 30, 40), log(0, 39), log(0, 0)]
    assert ends_held(whole.by_partition, state(*logs)) == {
        partition(0): 40,
        partition(1): 40,
        partition(3): 40,
    }


def test_the_ends_of_another_topic_are_not_asked_about() -> None:
    whole = batch(offsets(10, 40)).by_partition
    assert ends_held(whole, state(log(0, 90, topic_id="new"))) == {}
    assert ends_held(whole, state()) == {}


def test_a_cursor_is_unmoved_where_offset_and_topic_are_those_of_the_batch_before() -> None:
    before = batch(*(offsets(10, 40, number) for number in range(4)))
    new_topic = planned(offsets(40, 40, 2), topic_id="new")
    after = batch(offsets(40, 40), offsets(40, 41, 1), new_topic, offsets(0, 0, 9))
    assert unmoved(before.by_partition, after.by_partition).keys() == {partition(0)}


def test_another_record_batch_contradicts_the_one_that_was_read() -> None:
    (found,) = compare_fingerprints({AT: 40}, {AT: "c0ffee"}, {AT: "0badCa"})
    assert str(found) == (
        "flights[0]: expected record batch c0ffee before offset 40, found 0badCa:"
        " the log was replaced by another copy that has grown over what was read"
    )


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({AT: "c0ffee"}, {AT: "c0ffee"}),
        ({AT: None}, {AT: "c0ffee"}),
        ({}, {AT: "c0ffee"}),
        ({AT: "c0ffee"}, {AT: None}),
        ({AT: "c0ffee"}, {}),
    ],
    ids=["the same", "not taken", "none stored", "not shown", "not asked"],
)
def test_the_same_or_unknown_contradicts_nothing(
    expected: dict[TopicPartition, str | None], found: dict[TopicPartition, str | None]
) -> None:
    assert list(compare_fingerprints({AT: 40}, expected, found)) == []
