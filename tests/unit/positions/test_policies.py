"""A start position becomes one number per partition, within what Kafka holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import DataLost, ResetNeeded, SettingsError
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.ranges import TopicPartition
from sluice.positions.policies import (
    AtCheckpoint,
    AtGroup,
    AtMoment,
    AtOffsets,
    BehindDeltaIngest,
    Earliest,
    Latest,
)
from sluice.protocol.plan.next_batches import plan_first, plan_next

from tests.unit.builders import CLUSTER, history, log, partition, spec, state
from tests.unit.positions.answers import Answers

LOGS = state(log(5, 40, 60), log(0, 10), log(7, 7)).logs


def by_number(found: Mapping[TopicPartition, int]) -> list[int]:
    return [found[partition(number)] for number in range(len(found))]


def test_earliest_is_the_log_start() -> None:
    assert by_number(Earliest().first_offsets(LOGS, Answers())) == [5, 0, 7]


def test_latest_is_the_lso_and_not_the_high_watermark() -> None:
    assert by_number(Latest().first_offsets(LOGS, Answers())) == [40, 10, 7]


def test_a_timestamp_is_the_first_record_at_or_after_it_or_else_the_end() -> None:
    moment = datetime(2013, 1, 1, tzinfo=UTC)
    ask = Answers({0: 12})
    assert by_number(AtMoment(moment).first_offsets(LOGS, ask)) == [12, 10, 7]
    assert ask.asked == [moment]


def test_a_timestamp_within_an_open_transaction_starts_at_the_lso() -> None:
    moment = datetime(2013, 1, 1, tzinfo=UTC)
    found = AtMoment(moment).first_offsets(LOGS, Answers({0: 55, 1: 3}))
    assert by_number(found) == [40, 3, 7]


def test_a_group_starts_where_it_stands_and_at_the_beginning_where_it_never_was() -> None:
    ask = Answers({0: 33})
    assert by_number(AtGroup("old").first_offsets(LOGS, ask)) == [33, 0, 7]
    assert ask.asked == ["old"]


def test_a_group_that_stands_below_the_log_start_is_left_there_for_planning_to_tell_the_loss() -> (
    None
):
    assert by_number(AtGroup("old").first_offsets(LOGS, Answers({0: 2, 1: 99}))) == [2, 10, 7]


def test_a_group_that_knows_nothing_is_a_mistake_and_no_beginning() -> None:
    with pytest.raises(SettingsError, match=r"group 'odl': expected committed offsets of flights"):
        AtGroup("odl").first_offsets(LOGS, Answers({}))


def test_explicit_offsets_leave_the_other_partitions_at_their_beginning() -> None:
    start = AtOffsets({partition(): 5, partition(1): 10})
    assert by_number(start.first_offsets(LOGS, Answers())) == [5, 10, 7]


@pytest.mark.parametrize(
    ("topic", "number", "offset", "held"),
    [
        ("flights", 0, 4, r"\[5, 40\]"),
        ("flights", 0, 41, r"\[5, 40\]"),
        ("flights", 9, 0, "no partition"),
        ("delays", 0, 0, "no partition"),
    ],
)
def test_an_explicit_offset_that_kafka_does_not_hold_is_refused(
    topic: str, number: int, offset: int, held: str
) -> None:
    start = AtOffsets({partition(number, topic): offset})
    expected = rf"{topic}\[{number}\]: start.offsets asks for {offset}, Kafka holds {held}"
    with pytest.raises(ResetNeeded, match=expected):
        start.first_offsets(LOGS, Answers())


CHECKPOINT = AtCheckpoint("/old/checkpoint")
INGESTED = BehindDeltaIngest("/old/table", "app")


def test_a_checkpoint_is_adopted_where_it_ends_and_at_the_beginning_of_what_it_never_saw() -> None:
    ask = Answers({0: 33, 2: 7})
    assert by_number(CHECKPOINT.first_offsets(LOGS, ask)) == [33, 0, 7]
    assert ask.asked == ["/old/checkpoint"]


def test_kafka_delta_ingest_tells_the_last_offset_written_and_not_the_next_one() -> None:
    ask = Answers({0: 32, 1: 0})
    assert by_number(INGESTED.first_offsets(LOGS, ask)) == [33, 1, 7]
    assert ask.asked == [("/old/table", "app")]


def test_kafka_delta_ingest_does_not_tell_the_topic_so_that_of_several_one_is_named() -> None:
    two = {**LOGS, **state(log(3, 9), topic="delays").logs}
    with pytest.raises(SettingsError, match=r"expected `topic` .* reads delays, flights"):
        INGESTED.first_offsets(two, Answers({0: 32}))
    named = BehindDeltaIngest("/old/table", topic="delays")
    found = named.first_offsets(two, Answers({0: 5}))
    assert found == {**dict(zip(LOGS, [5, 0, 7], strict=True)), partition(0, "delays"): 6}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({0: 61}, r"flights\[0\]: .*, found 61, and in Kafka \[5, 60\): another topic of that na"),
        ({0: 60}, r"flights\[0\]: .*, found 60, above the last stable offset 40: .* Run again"),
        ({9: 0}, r"flights\[9\]: .*, found 0, and in Kafka no such partition: another topic"),
        ({0: 61, 9: 0}, r"flights\[0\]: [^\n]*\nflights\[9\]: "),
    ],
)
def test_an_adopted_end_that_kafka_never_reached_is_refused(
    told: dict[int, int], expected: str
) -> None:
    with pytest.raises(ResetNeeded, match=expected):
        CHECKPOINT.first_offsets(LOGS, Answers(told))


def test_an_adopted_end_below_the_log_start_stays_for_planning_to_tell_the_loss() -> None:
    assert by_number(CHECKPOINT.first_offsets(LOGS, Answers({0: 2}))) == [2, 0, 7]
    asked, first = spec(start={"checkpoint": "/old/checkpoint"}), history()
    starts = CHECKPOINT.first_offsets(LOGS, Answers({0: 2}))
    there = KafkaState(CLUSTER, LOGS)
    with pytest.raises(DataLost, match=r"flights\[0\]: expected to go on at 2, found .* at 5: 3"):
        plan_first(asked, first, there, starts)
    plan = plan_first(asked.model_copy(update={"on_data_loss": "record"}), first, there, starts)
    assert [str(loss.offsets) for loss in plan.losses] == ["flights[0] [2, 5)"]
    assert str(plan.batches[0].ranges[0].offsets) == "flights[0] [5, 40)"


def test_a_checkpoint_of_other_topics_is_refused_and_none_at_all_says_nothing() -> None:
    others = state(log(3, 9), topic="delays").logs
    with pytest.raises(SettingsError, match="expected a position in delays, found topics: flights"):
        CHECKPOINT.first_offsets(others, Answers({0: 33}))
    assert CHECKPOINT.first_offsets({}, Answers({0: 33})) == {}, "planning names the missing topic"


def test_the_first_plan_keeps_where_it_started() -> None:
    moment = spec(start={"timestamp": "2013-01-01"})
    starts = {each: log.log_start_offset for each, log in LOGS.items()}
    plan = plan_first(moment, history(), KafkaState(CLUSTER, LOGS), starts)
    assert plan.reason == "start: timestamp 2013-01-01T00:00:00.000000Z"
    assert plan_next(moment, history(*plan.batches), KafkaState(CLUSTER, LOGS)).reason is None


@st.composite
def all_logs(draw: st.DrawFn) -> dict[TopicPartition, PartitionLog]:
    found = {}
    for number in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, 100))
        stable = start + draw(st.integers(0, 100))
        found[partition(number)] = log(start, stable, stable + draw(st.integers(0, 9)))
    return found


@given(all_logs(), st.dictionaries(st.integers(0, 5), st.integers(0, 300)))
def test_every_start_names_every_partition_and_lies_between_log_start_and_lso(
    logs: dict[TopicPartition, PartitionLog], told: dict[int, int]
) -> None:
    moment = datetime(2013, 1, 1, tzinfo=UTC)
    policies = (
        Earliest(),
        Latest(),
        AtMoment(moment),
        AtOffsets({}),
    )
    for policy in policies:
        found = policy.first_offsets(logs, Answers(told))
        assert found.keys() == logs.keys()
        for at, offset in found.items():
            assert logs[at].log_start_offset <= offset <= logs[at].last_stable_offset
