"""A page of a partition's log: record batches as the broker keeps them, markers included."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

# 36 bits: two batches have the same fingerprint by chance once in 7 * 10^10 times. More would help
# little, as the checksum has 32 bits; and every commit stores one for every partition.
_FINGERPRINT_LENGTH = 6


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """The header of a batch of the log, and the offsets of the records still in it.

    `checksum` is None in the formats before Kafka 0.11, which have none over the whole batch.
    `size` is in bytes, as stored in the log.
    """

    base_offset: int
    next_offset: int
    is_control: bool
    is_transactional: bool
    producer_id: int
    offsets: Sequence[int]
    leader_epoch: int = -1
    checksum: int | None = None
    size: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.base_offset < self.next_offset:
            raise ValueError(f"[{self.base_offset}, {self.next_offset}) is not a record batch")

    @property
    def span(self) -> int:
        """Offsets covered; more than the records where compaction removed some."""
        return self.next_offset - self.base_offset

    @property
    def fingerprint(self) -> str | None:
        """A digest of what identifies the batch: its base offset, leader epoch and checksum.

        The checksum covers timestamps, producer and records. None where there is no checksum.
        """
        if self.checksum is None:
            return None
        identity = f"{self.base_offset}:{self.leader_epoch}:{self.checksum}"
        digest = hashlib.sha256(identity.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode()[:_FINGERPRINT_LENGTH]


@dataclass(frozen=True, slots=True)
class AbortedTransaction:
    """A producer's transaction that was aborted: from its first offset to the next marker."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True)
class LogPage:
    """The log over `[start, end)` as one answer reported it, complete in itself.

    `aborted` lists every aborted transaction that overlaps the page, including those that began
    before it. The first batch may begin before `start`.
    """

    start: int
    end: int
    batches: Sequence[RecordBatch]
    aborted: Sequence[AbortedTransaction]
    log_start_offset: int
    last_stable_offset: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"[{self.start}, {self.end}) is not a page of a log")
