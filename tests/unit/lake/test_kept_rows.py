"""What a re-reading did not deliver stays only where the log has neither record nor marker."""

from __future__ import annotations

import pytest
from sluice.lake.kept_rows import rows_of_nothing
from sluice.lake.port import RecordsLeftOut
from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.contracts.memory_driver import MemoryDriver


@pytest.fixture
def brokers() -> MemoryDriver:
    return MemoryDriver()


def test_a_row_does_not_stay_where_the_log_has_a_marker_or_an_aborted_record(
    brokers: MemoryDriver,
) -> None:
    topic = brokers.topic()
    brokers.produce(topic, [b"0", b"1"])
    brokers.end(brokers.begin(topic, [b"2", b"3"]), topic, commit=False)
    at = TopicPartition(topic, 0)
    # 4 is the marker.
    found = rows_of_nothing(brokers.cluster, {at: [(2, 3), (4, 5)]})
    assert found == [OffsetRange(at, 2, 3), OffsetRange(at, 4, 5)]


def test_a_row_stays_where_a_record_was_compacted_or_deleted(brokers: MemoryDriver) -> None:
    topic = brokers.compacted_topic()
    brokers.produce(topic, [b"0", b"1", b"2"])
    brokers.compact(topic)
    at = TopicPartition(topic, 0)
    assert rows_of_nothing(brokers.cluster, {at: [(0, 2)]}) == []
    deleted = brokers.topic()
    brokers.produce(deleted, [b"0", b"1", b"2"])
    brokers.delete_records(deleted, 2)
    assert rows_of_nothing(brokers.cluster, {TopicPartition(deleted, 0): [(0, 2)]}) == []


def test_a_record_that_the_log_holds_was_left_out(brokers: MemoryDriver) -> None:
    topic = brokers.topic()
    brokers.produce(topic, [b"0", b"1", b"2"])
    at = TopicPartition(topic, 0)
    with pytest.raises(RecordsLeftOut, match=r"left out records that Kafka holds.* \[1, 2\)"):
        rows_of_nothing(brokers.cluster, {at: [(1, 2)]})


def test_where_everything_was_delivered_nothing_is_asked(brokers: MemoryDriver) -> None:
    brokers.kafka.down = True
    assert rows_of_nothing(brokers.cluster, {}) == []
