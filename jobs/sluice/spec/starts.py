"""Start positions: where a pipeline without history begins. Stored history always outranks them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import Discriminator, Field, Tag, field_validator

from sluice.broker.kafka_state import Logs
from sluice.errors import ResetNeeded
from sluice.planning.destinations import of_group
from sluice.planning.ranges import TopicPartition
from sluice.spec.adopted_starts import StartCheckpoint, StartDeltaIngest
from sluice.spec.model import Model
from sluice.spec.questions import StartQuestions

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
        known = of_group(self.group, ask.group_offsets(self.group, list(logs))) if logs else {}
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
