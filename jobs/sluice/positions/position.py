"""A position: where reading is to begin, what it may ask, and what holds at the log's edges. Pure.

A `start` names the first offset of every partition; a reset moves some cursors. What they want may
lie outside of Kafka's log: a reset clips it, a start clips it or refuses it, as the position says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.offsets.batches import Cursor, PlannedRange
from sluice.offsets.partition_log import Logs
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.resets import CursorMove

Offsets = Mapping[TopicPartition, int]
Moves = Mapping[TopicPartition, CursorMove]


class Questions(Protocol):
    """What a position may ask."""

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset at or after a moment; None where no record is that late."""

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""

    def checkpoint_ends(self, folder: str) -> Offsets:
        """Where the last committed batch of a Structured Streaming query ended."""

    def last_written(self, table: str, app_id: str | None) -> Mapping[int, int]:
        """The last offset that kafka-delta-ingest has written, by partition."""


@dataclass(frozen=True)
class Situation:
    """What is known already: the logs, and the cursor of a pipeline that has one."""

    logs: Logs
    cursor: Cursor = field(default_factory=dict)


class Position(Protocol):
    """Where reading is to begin."""

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The offsets that it names, whether Kafka holds them or not.

        Raises SettingsError or ResetNeeded where it does not apply to the pipeline.
        """


class StartPosition(Position, Protocol):
    """A position that a pipeline without history can begin at."""

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The first offset to read, of every partition.

        One below the log start is a loss, which planning tells. Raises SettingsError or ResetNeeded
        where Kafka does not reach as far as the position.
        """


def or_beginning(wanted: Offsets, logs: Logs) -> Offsets:
    """Every partition of the logs: where it is wanted, else at its log start."""
    return {each: wanted.get(each, log.log_start_offset) for each, log in logs.items()}


def nearest(wanted: Offsets, logs: Logs) -> Offsets:
    """As `or_beginning`, within `[log start, LSO]`."""
    return {each: logs[each].nearest(at) for each, at in or_beginning(wanted, logs).items()}


def up_to_lso(wanted: Offsets, logs: Logs) -> Offsets:
    """As `or_beginning`, at the LSO or below."""
    found = or_beginning(wanted, logs)
    return {each: min(at, logs[each].last_stable_offset) for each, at in found.items()}


def require_held(wanted: Offsets, logs: Logs) -> None:
    """Raises ResetNeeded for an offset outside of `[log start, LSO]`."""
    for partition, offset in wanted.items():
        log = logs.get(partition)
        held = f"[{log.log_start_offset}, {log.last_stable_offset}]" if log else "no partition"
        if not log or not log.log_start_offset <= offset <= log.last_stable_offset:
            raise ResetNeeded(
                f"{partition}: start.offsets asks for {offset}, Kafka holds {held}."
                " Change `start` in the spec."
            )


def require_reached(name: str, ends: Offsets, logs: Logs) -> None:
    """Refuse where another system has ended, unless it was in these logs.

    Raises SettingsError when it knows none of the topics, ResetNeeded where Kafka does not reach as
    far as it did.
    """
    ours = {each.topic for each in logs}
    if logs and not ours & {each.topic for each in ends}:
        theirs = ", ".join(sorted({each.topic for each in ends})) or "none"
        raise SettingsError(
            f"start.{name}: expected a position in {', '.join(sorted(ours))}, found topics:"
            f" {theirs}. Correct `start` in the spec."
        )
    beyond = [
        f"{partition}: start.{name}: expected an end within Kafka's log, found {end}, {found}"
        for partition, end in sorted(ends.items())
        if partition.topic in ours and (found := _beyond(partition, end, logs))
    ]
    if beyond:
        raise ResetNeeded(as_lines(beyond))


def _beyond(partition: TopicPartition, end: int, logs: Logs) -> str:
    log = logs.get(partition)
    if log is None or end > log.end_offset:
        held = f"[{log.log_start_offset}, {log.end_offset})" if log else "no such partition"
        return f"and in Kafka {held}: another topic of that name. Change `start` in the spec."
    if end > log.last_stable_offset:
        return (
            f"above the last stable offset {log.last_stable_offset}: it has read records of a"
            " transaction that is open still. Run again when that has ended."
        )
    return ""


def clip_to_log(wanted: Offsets, logs: Logs) -> Moves:
    """A cursor's moves to the wanted offsets, or to what of `[log start, LSO]` is nearest to them.

    Raises SettingsError for a partition that Kafka does not have.
    """
    require_partitions(wanted, logs)
    found = {}
    for partition, offset in sorted(wanted.items()):
        log = logs[partition]
        after = log.nearest(offset)
        planned = PlannedRange.of(OffsetRange(partition, after, after), log)
        found[partition] = CursorMove(planned, requested=None if offset == after else offset)
    return found


def keep_cursor(cursor: Cursor) -> Moves:
    """Every partition where the cursor is."""
    return {partition: CursorMove(planned) for partition, planned in cursor.items()}


def cursor_at(planned: PlannedRange, offset: int) -> PlannedRange:
    """A cursor that stands at an offset of a planned range's partition."""
    return replace(planned, offsets=OffsetRange(planned.offsets.partition, offset, offset))


def require_partitions(partitions: Iterable[TopicPartition], logs: Logs) -> None:
    """Raises SettingsError for a partition that Kafka does not have, or the spec does not name."""
    unknown = sorted(partition for partition in partitions if partition not in logs)
    if unknown:
        raise SettingsError(
            f"{', '.join(map(str, unknown))}: expected a partition of the pipeline's topics, found"
            f" no such one. There are {', '.join(map(str, sorted(logs))) or 'none'}."
        )


def require_rows_below(after: Moves, cursor: Cursor, held: Cursor) -> None:
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
