"""Adopted starts: a pipeline without history goes on where another system has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from sluice.broker.kafka_state import Logs
from sluice.errors import ResetNeeded, SettingsError, joined
from sluice.planning.ranges import TopicPartition
from sluice.spec.model import Model
from sluice.spec.questions import StartQuestions


def _absolute(where: str) -> str:
    # A DAG and a command line have different working directories.
    if not where.startswith("/") and "://" not in where:
        raise ValueError("expected an absolute path or a URI")
    return where.rstrip("/")


Place = Annotated[str, AfterValidator(_absolute)]


class StartCheckpoint(Model):
    """Start where a Structured Streaming query stands, by its checkpoint folder."""

    checkpoint: Place

    def __str__(self) -> str:
        return f"checkpoint {self.checkpoint}"

    def resolve(self, logs: Logs, ask: StartQuestions) -> dict[TopicPartition, int]:
        """The first offset to read, per partition. Raises SettingsError or ResetNeeded."""
        return _adopted(str(self), ask.checkpoint_ends(self.checkpoint), logs)


class DeltaIngest(Model):
    """A table of kafka-delta-ingest, and what its transactions are named by."""

    table: Place
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
        return _adopted(str(self), ends, logs)


def _adopted(
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
        raise ResetNeeded(joined(beyond))
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
