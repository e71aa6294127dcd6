"""Questions to the port, put shortly: of partition 0, where none is named."""

from __future__ import annotations

from datetime import datetime

from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.protocol.settle.gaps import Gaps

from tests.contracts.driver import Chosen, Driver
from tests.unit.builders import explain


def at(topic: str, number: int = 0) -> TopicPartition:
    return TopicPartition(topic, number)


def offsets(topic: str, start: int, end: int) -> OffsetRange:
    return OffsetRange(at(topic), start, end)


def millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def state(driver: Driver, *topics: str) -> KafkaState:
    return driver.cluster.state(Chosen(list(topics)))


def log(driver: Driver, topic: str) -> PartitionLog:
    return state(driver, topic).logs[at(topic)]


def bounds(driver: Driver, topic: str) -> tuple[int, int, int]:
    found = log(driver, topic)
    return found.log_start_offset, found.last_stable_offset, found.end_offset


def explained(driver: Driver, topic: str, *spans: tuple[int, int], compacts: bool = False) -> Gaps:
    pages = driver.cluster.raw_log(at(topic), spans, timeout=20, patience=0.1)
    return explain(spans, pages, compacts=compacts)


def fingerprint(driver: Driver, topic: str, offset: int) -> str | None:
    return driver.cluster.fingerprints({at(topic): offset})[at(topic)]


def read(driver: Driver, *wanted: OffsetRange) -> list[list[int]]:
    with driver.cluster.offsets_reader() as reader:
        return [[offset for some in reader(each) for offset in some] for each in wanted]
