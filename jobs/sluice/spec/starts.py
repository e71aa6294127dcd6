"""Adopted starts: a pipeline without history goes on where another system has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.offsets.partition_log import Logs
from sluice.offsets.ranges import TopicPartition
from sluice.positions.position import StartQuestions, group_positions
from sluice.strict_model import Model


def _absolute(where: str) -> str:
    # A DAG and a command line have different working directories.
    if not where.startswith("/") and "://" not in where:
        raise ValueError("expected an absolute path or a URI")
    return where.rstrip("/")


Location = Annotated[str, AfterValidator(_absolute)]


class StartCheckpoint(Model):
    """Start where a Structured Streaming query stands, by its checkpoint folder."""

    checkpoint: Location

    def __str__(self) -> str:
        return f"checkpoint {self.checkpoint}"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition. Raises SettingsError or ResetNeeded."""
        return _positions_of_others(str(self), ask.checkpoint_ends(self.checkpoint), logs)


class DeltaIngest(Model):
    """A table of kafka-delta-ingest, and what its transactions are named by."""

    table: Location
    app_id: str | None = Field(default=None, min_length=1)
    topic: str | None = Field(default=None, min_length=1)


class StartDeltaIngest(Model):
    """Start behind what kafka-delta-ingest has written to a table; it reads one topic."""

    delta_ingest: DeltaIngest

    def __str__(self) -> str:
        asked = self.delta_ingest
        app_id = f", app id {asked.app_id}" if asked.app_id else ""
        topic = f", topic {asked.topic}" if asked.topic else ""
        return f"delta_ingest {asked.table}{app_id}{topic}"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition. Raises SettingsError or ResetNeeded."""
        topics = sorted({each.topic for each in logs})
        asked = self.delta_ingest
        topic = asked.topic or (topics[0] if len(topics) == 1 else None)
        if topic is None:
            raise SettingsError(
                f"start.{self}: expected `topic` under `start.delta_ingest`, found none: the"
                f" transactions do not name it, and the pipeline reads {', '.join(topics)}."
            )
        last = ask.last_written(asked.table, asked.app_id)
        ends = {TopicPartition(topic, number): offset + 1 for number, offset in last.items()}
        return _positions_of_others(str(self), ends, logs)


def _positions_of_others(
    start: str, ends: Mapping[TopicPartition, int], logs: Logs
) -> dict[TopicPartition, int]:
    """Where others have ended, and the beginning of what they do not know.

    An end below the log start stays as it is: planning tells the loss. Raises SettingsError when
    they know none of the topics, ResetNeeded where Kafka does not reach as far as they did.
    """
    ours = {each.topic for each in logs}
    if logs and not ours & {each.topic for each in ends}:
        theirs = ", ".join(sorted({each.topic for each in ends})) or "none"
        raise SettingsError(
            f"start.{start}: expected a position in {', '.join(sorted(ours))}, found topics:"
            f" {theirs}. Correct `start` in the spec."
        )
    beyond = [
        f"{partition}: start.{start}: expected an end within Kafka's log, found {end}, {found}"
        for partition, end in sorted(ends.items())
        if partition.topic in ours and (found := _beyond(partition, end, logs))
    ]
    if beyond:
        raise ResetNeeded(as_lines(beyond))
    return {each: ends.get(each, log.log_start_offset) for each, log in logs.items()}


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


Offset = Annotated[int, Field(ge=0)]


class StartEarliest(Model):
    """Start at the first offset still kept."""

    def __str__(self) -> str:
        return "earliest"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition."""
        return {partition: log.log_start_offset for partition, log in logs.items()}


class StartLatest(Model):
    """Start behind everything that can be read now."""

    def __str__(self) -> str:
        return "latest"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition."""
        return {partition: log.last_stable_offset for partition, log in logs.items()}


class StartTimestamp(Model):
    """Start at the first record at or after a moment."""

    timestamp: datetime

    @field_validator("timestamp", mode="before")
    @classmethod
    def _is_a_moment(cls, moment: object) -> object:
        # YAML reads a bare date as a date, and text in quotes as text.
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        if isinstance(moment, datetime) and moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment

    def __str__(self) -> str:
        return f"timestamp {self.timestamp.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition."""
        found = ask.offsets_for_time(list(logs), self.timestamp)
        return {
            each: log.last_stable_offset if (at := found[each]) is None else log.nearest(at)
            for each, log in logs.items()
        }


class StartOffsets(Model):
    """Start at explicit offsets; partitions that are not named start at their beginning."""

    offsets: dict[str, dict[Annotated[int, Field(ge=0)], Offset]]

    def __str__(self) -> str:
        # In the same words whatever the order of the keys: it is compared with what was recorded.
        ordered = {topic: dict(sorted(at.items())) for topic, at in sorted(self.offsets.items())}
        return f"offsets {ordered}"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition. Raises ResetNeeded where Kafka lacks it."""
        given = {
            TopicPartition(topic, number): offset
            for topic, offsets in self.offsets.items()
            for number, offset in offsets.items()
        }
        for partition, offset in given.items():
            log = logs.get(partition)
            held = f"[{log.log_start_offset}, {log.last_stable_offset}]" if log else "no partition"
            if not log or not log.log_start_offset <= offset <= log.last_stable_offset:
                raise ResetNeeded(
                    f"{partition}: start.offsets asks for {offset}, Kafka holds {held}."
                    " Change `start` in the spec."
                )
        return {each: given.get(each, log.log_start_offset) for each, log in logs.items()}


class StartGroup(Model):
    """Start where a consumer group stands; partitions it does not know start at their beginning."""

    group: str = Field(min_length=1)

    def __str__(self) -> str:
        return f"group {self.group}"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition; below the log start, planning tells the loss.

        Raises SettingsError for a group that knows none of them.
        """
        known = (
            group_positions(self.group, ask.group_offsets(self.group, list(logs))) if logs else {}
        )
        # It may stand above the LSO when it reads uncommitted records.
        return {
            each: min(known.get(each, log.log_start_offset), log.last_stable_offset)
            for each, log in logs.items()
        }


_WORDS = {"earliest": StartEarliest, "latest": StartLatest}
_KEYS = {"timestamp", "offsets", "group", "checkpoint", "delta_ingest"}


def named_start(start: object) -> object:
    """Turn the words of a spec, `earliest` and `latest`, into their policies."""
    return _WORDS[start]() if isinstance(start, str) and start in _WORDS else start


def _kind(start: object) -> str | None:
    if isinstance(start, Model):
        return type(start).__name__
    keys = set(start) if isinstance(start, dict) else set()
    return next(iter(keys & _KEYS), None)


Start = Annotated[
    Annotated[StartEarliest, Tag("StartEarliest")]
    | Annotated[StartLatest, Tag("StartLatest")]
    | Annotated[StartTimestamp, Tag("timestamp")]
    | Annotated[StartOffsets, Tag("offsets")]
    | Annotated[StartGroup, Tag("group")]
    | Annotated[StartCheckpoint, Tag("checkpoint")]
    | Annotated[StartDeltaIngest, Tag("delta_ingest")],
    Discriminator(
        _kind,
        custom_error_type="start",
        custom_error_message=(
            "allowed: earliest, latest, {timestamp: …}, {offsets: {topic: {partition: offset}}},"
            " {group: …}, {checkpoint: folder}, {delta_ingest: {table: …, app_id: …}}"
        ),
    ),
]
