"""Fingerprints: of the record before a cursor, by which one copy of a log is told from another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sluice.offsets.batches import Cursor
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicPartition
from sluice.protocol.plan.log_changes import Contradiction

NO_BATCH = "none"
"""In place of a fingerprint: that the log had no record there."""

Fingerprints = Mapping[TopicPartition, str | None]


def ends_held(cursor: Cursor, state: KafkaState) -> Mapping[TopicPartition, int]:
    """The ends of the ranges, where the log still holds the record before them."""
    return {
        partition: each.offsets.end
        for partition, each in cursor.items()
        if (log := state.logs.get(partition)) is not None
        and log.topic_id == each.topic_id
        and log.log_start_offset < each.offsets.end <= log.end_offset
    }


def unmoved(before: Cursor, after: Cursor) -> Cursor:
    """The part of a later cursor that stands where the earlier one stands, in the same topic."""
    return {
        partition: each
        for partition, each in after.items()
        if (last := before.get(partition)) is not None
        and (last.topic_id, last.offsets.end) == (each.topic_id, each.offsets.end)
    }


def compare_fingerprints(
    ends: Mapping[TopicPartition, int], expected: Fingerprints, found: Fingerprints
) -> Iterator[Contradiction]:
    """Where the record batch before an end has changed. Unknown contradicts nothing.

    Offsets and leader epoch cannot show this: a log that was truncated and grew again.
    """
    for partition, end in sorted(ends.items()):
        before, now = expected.get(partition), found.get(partition)
        if before is not None and now is not None and before != now:
            was = "no record" if before == NO_BATCH else f"record batch {before}"
            yield Contradiction(
                partition,
                f"{was} before offset {end}",
                f"{now}: the log was replaced by another copy that has grown over what was read",
            )
