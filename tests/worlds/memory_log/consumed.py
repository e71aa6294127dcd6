"""What consumers get of a partition: records by range, and offsets by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.worlds.memory_log.batch import Headers, Record
from tests.worlds.memory_log.partition import Partition

CREATE_TIME = 0


class RangeNotThere(Exception):
    """A reader that wants all of a range fails: the log begins later, or ends before."""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A record as a consumer gets it; its timestamp is in milliseconds, -1 for none."""

    partition: TopicPartition
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Headers


def consumed(log: Partition, start: int, end: int | None = None) -> Iterator[tuple[int, Record]]:
    """The committed records that a consumer gets from an offset on.

    None from an offset out of range: it goes to the end of the log then, which is told to it.
    """
    if log.log_start <= start <= log.end:
        yield from log.committed(start, end)


def records_in(log: Partition, wanted: OffsetRange) -> list[MemoryRecord]:
    """The committed records of a range. Raises RangeNotThere."""
    if wanted.start < log.log_start or wanted.end > log.last_stable_offset:
        raise RangeNotThere(f"{wanted}: there is [{log.log_start}, {log.last_stable_offset})")
    return [_whole(wanted.partition, *each) for each in log.committed(wanted.start, wanted.end)]


def first_at(log: Partition, moment: int) -> int | None:
    """The first offset whose record is at or after a time; it may be aborted, or a marker."""
    for batch in log.batches:
        for offset, record in batch.from_offset(log.log_start):
            if record.milliseconds >= moment:
                return offset
    return None


def first_uncommitted(log: Partition, start: int) -> Record | None:
    """The first record that a read_uncommitted consumer gets from an offset on."""
    if start < log.log_start:
        return None
    held = (each for each in log.from_offset(start, log.end) if not each.is_control)
    return next((record for batch in held for _, record in batch.from_offset(start)), None)


def _whole(partition: TopicPartition, offset: int, record: Record) -> MemoryRecord:
    moment = record.milliseconds
    return MemoryRecord(
        partition, offset, moment, CREATE_TIME, record.key, record.value, record.headers
    )
