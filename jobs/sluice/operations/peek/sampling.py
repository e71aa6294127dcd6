"""Sampling: which offsets of a topic to look at, for so many records."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicPartition

# Transactions and compaction leave offsets without a record: twice as many are looked at.
_SLACK = 10


class End(StrEnum):
    """The end of the logs to look at."""

    EARLIEST = "earliest"
    LATEST = "latest"


def shares(logs: Mapping[TopicPartition, PartitionLog], count: int) -> dict[TopicPartition, int]:
    """How many of `count` records each partition gives: evenly, as far as it has any."""
    spans = {at: log.last_stable_offset - log.log_start_offset for at, log in logs.items()}
    smallest_first = sorted((at for at in spans if spans[at]), key=lambda at: (spans[at], at))
    found, left = {}, count
    for number, at in enumerate(smallest_first):
        share = min(spans[at], -(-left // (len(smallest_first) - number)))
        if share:
            found[at] = share
        left -= share
    return found


def range_at(end: End, at: TopicPartition, log: PartitionLog, share: int) -> OffsetRange:
    """Where to look for `share` records at that end of a partition's log."""
    start = log.log_start_offset
    if end is End.LATEST:
        start = max(start, log.last_stable_offset - 2 * share - _SLACK)
    return OffsetRange(at, start, log.last_stable_offset)
