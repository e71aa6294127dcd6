"""A position: where reading begins, what it may ask, and the rules at the log's ends. Pure.

A `start` names the first offset of every partition; a reset moves some cursors. A wanted offset may
lie outside Kafka's log: a reset clips it; a start clips or refuses it, as the position says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.moves import Move, advice
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
        """The first offset whose record is at or after a moment; None where none is that late."""

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""

    def checkpoint_ends(self, folder: str) -> Offsets:
        """Where the last committed batch of a Structured Streaming query ended."""

    def last_written(self, table: str, app_id: str | None) -> Mapping[int, int]:
        """The last offset that kafka-delta-ingest wrote, by partition."""


@dataclass(frozen=True)
class Situation:
    """What is already known: the logs, and the name and the cursor of a pipeline that has one."""

    logs: Logs
    cursor: Cursor = field(default_factory=dict)
    pipeline: str = ""


class Position(Protocol):
    """Where reading begins."""

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The offsets that it names, whether or not Kafka holds them.

        Raises SettingsError or ResetNeeded where it does not apply to the pipeline.
        """


def or_beginning(wanted: Offsets, logs: Logs) -> Offsets:
    """For every partition of the logs the wanted offset, else its log start."""
    return {each: wanted.get(each, log.log_start_offset) for each, log in logs.items()}


def nearest(wanted: Offsets, logs: Logs) -> Offsets:
    """As `or_beginning`, clipped to `[log start, LSO]`."""
    return {each: logs[each].nearest(at) for each, at in or_beginning(wanted, logs).items()}


def up_to_lso(wanted: Offsets, logs: Logs) -> Offsets:
    """As `or_beginning`, clipped to the LSO."""
    found = or_beginning(wanted, logs)
    return {each: min(at, logs[each].last_stable_offset) for each, at in found.items()}


def require_held(wanted: Offsets, logs: Logs) -> None:
    """Raises ResetNeeded for an offset outside `[log start, LSO]`."""
    for partition, offset in wanted.items():
        log = logs.get(partition)
        held = f"[{log.log_start_offset}, {log.last_stable_offset}]" if log else "no partition"
        if not log or not log.log_start_offset <= offset <= log.last_stable_offset:
            raise ResetNeeded(
                f"{partition}: start.offsets asks for {offset}, Kafka holds {held}."
                " Change `start` in the spec."
            )


def require_reached(name: str, ends: Offsets, logs: Logs) -> None:
    """Refuse the ends of another system unless they lie in these logs.

    Raises SettingsError when they name none of the topics, ResetNeeded where Kafka's log ends
    before them.
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
            " transaction that is still open. Run again when that has ended."
        )
    return ""


def clip_to_log(wanted: Offsets, logs: Logs) -> Moves:
    """The cursor's moves to the wanted offsets, clipped to `[log start, LSO]`.

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
    """Moves that leave the cursor of every partition where it is."""
    return {partition: CursorMove(planned) for partition, planned in cursor.items()}


def cursor_at(planned: PlannedRange, offset: int) -> PlannedRange:
    """A cursor at an offset of the planned range's partition."""
    return replace(planned, offsets=OffsetRange(planned.offsets.partition, offset, offset))


def require_partitions(partitions: Iterable[TopicPartition], logs: Logs) -> None:
    """Raises SettingsError for a partition that Kafka does not have, or the spec does not name."""
    unknown = sorted(partition for partition in partitions if partition not in logs)
    if unknown:
        raise SettingsError(
            f"{', '.join(map(str, unknown))}: expected a partition of the pipeline's topics, found"
            f" an unknown one. There are {', '.join(map(str, sorted(logs))) or 'none'}."
        )


def require_rows_below(pipeline: str, after: Moves, cursor: Cursor, held: Cursor) -> None:
    """Raises ResetNeeded where a reset would skip rows that a RESTORE took away."""
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
        to_table = Move("reset", (pipeline, "--to-table"))
        raise ResetNeeded(as_lines([*passed, advice(to_table, " first; then this one.")]))
