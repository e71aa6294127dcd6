"""Positions by name: at the beginning, at the end, at a moment, where another reader stands. Pure.

They serve `start` and resets alike. Each says which offsets it wants, and as a start what holds
where Kafka's log does not reach that far.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.offsets.partition_log import Logs
from sluice.offsets.ranges import TopicPartition
from sluice.positions.position import (
    Offsets,
    Questions,
    Situation,
    nearest,
    or_beginning,
    require_held,
    require_reached,
    up_to_lso,
)


@dataclass(frozen=True)
class Earliest:
    """The first offset still kept."""

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """Every log start."""
        return {each: log.log_start_offset for each, log in now.logs.items()}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The same."""
        return self.wanted(Situation(logs), ask)


@dataclass(frozen=True)
class Latest:
    """Behind everything that can be read now."""

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """Every LSO."""
        return {each: log.last_stable_offset for each, log in now.logs.items()}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The same."""
        return self.wanted(Situation(logs), ask)


@dataclass(frozen=True)
class AtMoment:
    """The first record at or after a moment; behind everything, where none is that late."""

    moment: datetime

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The first offset whose record is not older, which may lie above the LSO; else the LSO."""
        found = ask.offsets_for_time(sorted(now.logs), self.moment)
        late = {each: log.last_stable_offset for each, log in now.logs.items()}
        return {**late, **{each: at for each, at in found.items() if at is not None}}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """Those, or what of the log is nearest to them."""
        return nearest(self.wanted(Situation(logs), ask), logs)


@dataclass(frozen=True)
class AtOffsets:
    """Explicit offsets. As a start, the other partitions are read from their beginning."""

    offsets: Offsets

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """As they are given."""
        return self.offsets

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """Those of every partition. Raises ResetNeeded where Kafka lacks one of them."""
        require_held(self.offsets, logs)
        return or_beginning(self.offsets, logs)


@dataclass(frozen=True)
class AtGroup:
    """Where a consumer group stands. As a start, what it does not know is read from its beginning.

    It may stand above the LSO when it reads uncommitted records.
    """

    group: str

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """What it knows. Raises SettingsError for a group that knows none of the partitions."""
        found = ask.group_offsets(self.group, sorted(now.logs))
        known = {partition: offset for partition, offset in found.items() if offset is not None}
        if not known:
            raise SettingsError(
                f"group {self.group!r}: expected committed offsets of"
                f" {', '.join(map(str, sorted(found)))}, found none. Check the group's name."
            )
        return known

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """Where it stands, at the LSO at most. Without logs none: planning names what is absent."""
        return up_to_lso(self.wanted(Situation(logs), ask), logs) if logs else {}


@dataclass(frozen=True)
class AtCheckpoint:
    """Where a Structured Streaming query stands, by its checkpoint folder."""

    folder: str

    def __str__(self) -> str:
        return f"checkpoint {self.folder}"

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """Where its last committed batch ended, of whatever topics it reads."""
        return ask.checkpoint_ends(self.folder)

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """Those of the pipeline's topics. Raises as `require_reached` does."""
        ends = self.wanted(Situation(logs), ask)
        require_reached(str(self), ends, logs)
        return or_beginning(ends, logs)


@dataclass(frozen=True)
class BehindDeltaIngest:
    """Behind what kafka-delta-ingest has written to a table; it reads one topic."""

    table: str
    app_id: str | None = None
    topic: str | None = None

    def __str__(self) -> str:
        app_id = f", app id {self.app_id}" if self.app_id else ""
        topic = f", topic {self.topic}" if self.topic else ""
        return f"delta_ingest {self.table}{app_id}{topic}"

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The offsets behind the last ones written.

        Raises SettingsError unless it is known which topic they are of.
        """
        topics = sorted({each.topic for each in now.logs})
        topic = self.topic or (topics[0] if len(topics) == 1 else None)
        if topic is None:
            raise SettingsError(
                f"start.{self}: expected `topic` under `start.delta_ingest`, found none: the"
                f" transactions do not name it, and the pipeline reads {', '.join(topics)}."
            )
        last = ask.last_written(self.table, self.app_id)
        return {TopicPartition(topic, number): offset + 1 for number, offset in last.items()}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """Those. Raises as `require_reached` does."""
        ends = self.wanted(Situation(logs), ask)
        require_reached(str(self), ends, logs)
        return or_beginning(ends, logs)


@dataclass(frozen=True)
class Shifted:
    """So many offsets above the cursor, or below it where the number is negative."""

    by: int

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The cursor, moved; a partition that Kafka has no more is left out.

        Raises ResetNeeded where the log is another one: its offsets count anew.
        """
        there = {each: at for each, at in now.cursor.items() if each in now.logs}
        anew = [
            f"{each}: expected topic id {at.topic_id}, found {now.logs[each].topic_id}: the"
            " topic was created anew, and its offsets have nothing to do with the old ones."
            for each, at in there.items()
            if at.topic_id != now.logs[each].topic_id
        ]
        if anew:
            raise ResetNeeded(as_lines([*anew, "Say where to go: --to-earliest, or --to-offsets."]))
        return {each: at.offsets.end + self.by for each, at in there.items()}
