"""Destinations: where a reset leads each partition, as far as Kafka reaches. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.offsets.batches import Cursor, PlannedRange
from sluice.offsets.partition_log import Logs
from sluice.offsets.ranges import OffsetRange, TopicPartition


@dataclass(frozen=True)
class Destination:
    """Where a partition goes, as the empty range `[after, after)`.

    `asked` is what was asked for, where Kafka does not reach that far.
    """

    after: PlannedRange
    asked: int | None = None


Destinations = Mapping[TopicPartition, Destination]


def cursor_at(planned: PlannedRange, offset: int) -> PlannedRange:
    """A cursor that stands at an offset of a planned range's partition."""
    return replace(planned, offsets=OffsetRange(planned.offsets.partition, offset, offset))


def keep_cursor(cursor: Cursor) -> Destinations:
    """Every partition where the cursor is."""
    return {partition: Destination(planned) for partition, planned in cursor.items()}


def clip_to_log(wanted: Mapping[TopicPartition, int], logs: Logs) -> Destinations:
    """The wanted offsets, or what of `[log start, LSO]` is nearest to them.

    Raises SettingsError for a partition that Kafka does not have.
    """
    require_partitions(wanted, logs)
    found = {}
    for partition, offset in sorted(wanted.items()):
        log = logs[partition]
        after = log.nearest(offset)
        planned = PlannedRange.of(OffsetRange(partition, after, after), log)
        found[partition] = Destination(planned, None if offset == after else offset)
    return found


def shift_cursor(cursor: Cursor, logs: Logs, by: int) -> Mapping[TopicPartition, int]:
    """The cursor, moved by so many offsets; a partition that Kafka has no more keeps its place.

    Raises ResetNeeded where the log is another one: its offsets count anew.
    """
    there = {partition: each for partition, each in cursor.items() if partition in logs}
    anew = [
        f"{partition}: expected topic id {each.topic_id}, found {logs[partition].topic_id}: the"
        " topic was created anew, and its offsets have nothing to do with the old ones."
        for partition, each in there.items()
        if each.topic_id != logs[partition].topic_id
    ]
    if anew:
        raise ResetNeeded(as_lines([*anew, "Say where to go: --to-earliest, or --to-offsets."]))
    return {partition: each.offsets.end + by for partition, each in there.items()}


def group_positions(
    group: str, found: Mapping[TopicPartition, int | None]
) -> Mapping[TopicPartition, int]:
    """Where a consumer group stands; partitions that it does not know are left out.

    Raises SettingsError for a group that knows none of them.
    """
    known = {partition: offset for partition, offset in found.items() if offset is not None}
    if not known:
        raise SettingsError(
            f"group {group!r}: expected committed offsets of {', '.join(map(str, sorted(found)))},"
            " found none. Check the group's name."
        )
    return known


def require_partitions(partitions: Iterable[TopicPartition], logs: Logs) -> None:
    """Raises SettingsError for a partition that Kafka does not have, or the spec does not name."""
    unknown = sorted(partition for partition in partitions if partition not in logs)
    if unknown:
        raise SettingsError(
            f"{', '.join(map(str, unknown))}: expected a partition of the pipeline's topics, found"
            f" no such one. There are {', '.join(map(str, sorted(logs))) or 'none'}."
        )


def require_rows_below(after: Destinations, cursor: Cursor, held: Cursor) -> None:
    """Raises ResetNeeded where a reset would pass over rows that a RESTORE has taken away."""
    passed = [
        f"{partition}: the rows of [{end}, {cursor[partition].offsets.end}) were taken away by a"
        f" RESTORE; expected to go on at {end} or below, found {each.after.offsets.start}"
        for partition, each in sorted(after.items())
        if partition in held
        and (end := held[partition].offsets.end) < cursor[partition].offsets.end
        and each.after.topic_id == held[partition].topic_id
        and each.after.offsets.start > end
    ]
    if passed:
        raise ResetNeeded(as_lines([*passed, "Reset --to-table first; then this one."]))


class StartQuestions(Protocol):
    """What a start position may ask."""

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset at or after a moment; None where no record is that late."""

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""

    def checkpoint_ends(self, folder: str) -> Mapping[TopicPartition, int]:
        """Where the last committed batch of a Structured Streaming query ended."""

    def last_written(self, table: str, app_id: str | None) -> Mapping[int, int]:
        """The last offset that kafka-delta-ingest has written, by partition."""
