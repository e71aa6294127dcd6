"""Position policies: the beginning, the end, a moment, where another reader stands. Pure.

They serve `start` and resets alike. Each says which offsets it wants and, as a start, what happens
when those lie outside Kafka's log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.moves import Move, advice, options
from sluice.offsets.batches import of_topics_there
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
        """The log start of every partition."""
        return {each: log.log_start_offset for each, log in now.logs.items()}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The same."""
        return self.wanted(Situation(logs), ask)


@dataclass(frozen=True)
class Latest:
    """The end of everything that can be read now."""

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The LSO of every partition: a read_committed reader stops there (KIP-98)."""
        return {each: log.last_stable_offset for each, log in now.logs.items()}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The same."""
        return self.wanted(Situation(logs), ask)


@dataclass(frozen=True)
class AtMoment:
    """The first record at or after a moment; the end where no record is that late."""

    moment: datetime

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The first offset with a record that late, which may lie above the LSO; else the LSO."""
        found = ask.offsets_for_time(sorted(now.logs), self.moment)
        late = {each: log.last_stable_offset for each, log in now.logs.items()}
        return {**late, **{each: at for each, at in found.items() if at is not None}}

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The wanted offsets, clipped to the log."""
        return nearest(self.wanted(Situation(logs), ask), logs)


@dataclass(frozen=True)
class AtOffsets:
    """Explicit offsets. As a start, the other partitions are read from their beginning."""

    offsets: Offsets

    @classmethod
    def of(cls, by_topic: Mapping[str, Mapping[int, int]]) -> AtOffsets:
        """From topics, each with its partitions' offsets."""
        return cls(
            {
                TopicPartition(topic, number): offset
                for topic, offsets in by_topic.items()
                for number, offset in offsets.items()
            }
        )

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The given offsets."""
        return self.offsets

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """An offset for every partition. Raises ResetNeeded where Kafka does not hold one."""
        require_held(self.offsets, logs)
        return or_beginning(self.offsets, logs)


@dataclass(frozen=True)
class AtGroup:
    """The committed offsets of a group. As a start, other partitions are read from their beginning.

    The group may be above the LSO when it reads uncommitted records.
    """

    group: str

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """Its committed offsets. Raises SettingsError when it has none for these partitions."""
        found = ask.group_offsets(self.group, sorted(now.logs))
        known = {partition: offset for partition, offset in found.items() if offset is not None}
        if not known:
            raise SettingsError(
                f"group {self.group!r}: expected committed offsets of"
                f" {', '.join(map(str, sorted(found)))}, found none. Check the group's name."
            )
        return known

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """Its offsets, the LSO at most. Without logs none: planning names the missing topics."""
        return up_to_lso(self.wanted(Situation(logs), ask), logs) if logs else {}


@dataclass(frozen=True)
class AtCheckpoint:
    """Where a Structured Streaming query stands, by its checkpoint folder."""

    folder: str

    def __str__(self) -> str:
        return f"checkpoint {self.folder}"

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """Where its last committed batch ended, for every topic that it reads."""
        return ask.checkpoint_ends(self.folder)

    def first_offsets(self, logs: Logs, ask: Questions) -> Offsets:
        """The ends in the pipeline's topics. Raises as `require_reached` does."""
        ends = self.wanted(Situation(logs), ask)
        require_reached(str(self), ends, logs)
        return or_beginning(ends, logs)


@dataclass(frozen=True)
class BehindDeltaIngest:
    """After the last record that kafka-delta-ingest wrote to a table; it reads one topic."""

    table: str
    app_id: str | None = None
    topic: str | None = None

    def __str__(self) -> str:
        app_id = f", app id {self.app_id}" if self.app_id else ""
        topic = f", topic {self.topic}" if self.topic else ""
        return f"delta_ingest {self.table}{app_id}{topic}"

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The offsets after the last ones written.

        Raises SettingsError unless their topic is known.
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
        """The wanted offsets. Raises as `require_reached` does."""
        ends = self.wanted(Situation(logs), ask)
        require_reached(str(self), ends, logs)
        return or_beginning(ends, logs)


@dataclass(frozen=True)
class Shifted:
    """A number of offsets above the cursor, or below it where the number is negative."""

    by: int

    def wanted(self, now: Situation, ask: Questions) -> Offsets:
        """The shifted cursor; a partition that Kafka no longer has is left out.

        Raises ResetNeeded where the topic was recreated: its offsets start again.
        """
        cursor = of_topics_there(now.cursor, now.logs)
        there = {each: at for each, at in cursor.items() if each in now.logs}
        anew = {e: at for e, at in there.items() if at.topic_id != now.logs[e].topic_id}
        if anew:
            topics = sorted({each.topic for each in anew})
            to_new = Move("reset", (now.pipeline, "--to-earliest", *options("--topic", topics)))
            told = [
                f"{each}: expected topic id {at.topic_id}, found {now.logs[each].topic_id}: the"
                " topic was created anew, and its offsets have nothing to do with the old ones."
                for each, at in anew.items()
            ]
            say_where = advice("Say where to go: ", to_new, ", or --to-offsets.")
            raise ResetNeeded(as_lines([*told, say_where]))
        return {each: at.offsets.end + self.by for each, at in there.items()}
