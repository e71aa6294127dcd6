"""A record batch as a broker keeps it: a header, and the records that are still in it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from sluice.offsets.log_page import RecordBatch

NO_TIMESTAMP = -1
NO_PRODUCER = -1
_HEADER_BYTES = 61
_RECORD_BYTES = 7

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What a producer sends. `timestamp` is in milliseconds, -1 for none, None for now.

    What a log holds always has one of these numbers.
    """

    value: bytes | None
    key: bytes | None = None
    timestamp: int | None = None
    headers: Headers = ()

    @property
    def milliseconds(self) -> int:
        """The timestamp, -1 for none."""
        return NO_TIMESTAMP if self.timestamp is None else self.timestamp

    @property
    def size(self) -> int:
        """About as many bytes as it takes in a log."""
        parts = [self.key, self.value, *(part for _, part in self.headers)]
        names = sum(len(name) for name, _ in self.headers)
        return _RECORD_BYTES + names + sum(len(each) for each in parts if each)


@dataclass(frozen=True)
class Batch:
    """Offsets `[base_offset, next_offset)`; more than the records once the log was compacted.

    `commits` says what a transaction's marker says; None for a batch of records. `written` is when
    it was appended, and `horizon` until when the log cleaner keeps its tombstones or marker: both
    in milliseconds. `producer_id` is -1 outside of transactions.
    """

    base_offset: int
    next_offset: int
    leader_epoch: int
    producer_id: int
    records: tuple[tuple[int, Record], ...]
    written: int
    commits: bool | None = None
    horizon: int | None = None

    @property
    def is_control(self) -> bool:
        """Whether it is a transaction's marker."""
        return self.commits is not None

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return self.producer_id != NO_PRODUCER

    @property
    def newest(self) -> int:
        """The time by which retention judges it, in milliseconds."""
        found = max((each.milliseconds for _, each in self.records), default=NO_TIMESTAMP)
        return self.written if found == NO_TIMESTAMP else found

    @cached_property
    def header(self) -> RecordBatch:
        """What a raw fetch shows of it."""
        return RecordBatch(
            self.base_offset,
            self.next_offset,
            self.is_control,
            self.is_transactional,
            self.producer_id,
            tuple(offset for offset, _ in self.records),
            self.leader_epoch,
            self._checksum,
            _HEADER_BYTES + sum(each.size for _, each in self.records),
        )

    @property
    def _checksum(self) -> int:
        """Of what Kafka's covers: not of the base offset, nor of the leader epoch."""
        told = [(at - self.base_offset, each) for at, each in self.records]
        span = self.next_offset - self.base_offset
        covered = (span, self.producer_id, self.commits, self.horizon, told)
        return zlib.crc32(repr(covered).encode())

    def keeping(self, kept: Callable[[int, Record], bool]) -> Batch:
        """The same without the other records; the same object where nothing goes."""
        left = tuple(each for each in self.records if kept(*each))
        return self if len(left) == len(self.records) else replace(self, records=left)

    def from_offset(self, start: int) -> Iterator[tuple[int, Record]]:
        """The records at an offset and after it."""
        return (each for each in self.records if each[0] >= start)
