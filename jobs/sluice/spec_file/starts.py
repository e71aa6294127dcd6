"""Starts: the words and keys of a spec's YAML, turned into the positions they name."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    field_validator,
)
from pydantic_core import CoreSchema

from sluice.positions.names import STARTS
from sluice.positions.policies import (
    AtCheckpoint,
    AtGroup,
    AtMoment,
    AtOffsets,
    BehindDeltaIngest,
    Earliest,
    Latest,
)
from sluice.strict_model import Model


def _absolute(where: str) -> str:
    # A DAG and a command line have different working directories.
    if not where.startswith("/") and "://" not in where:
        raise ValueError("expected an absolute path or a URI")
    return where.rstrip("/")


Location = Annotated[str, AfterValidator(_absolute)]
Offset = Annotated[int, Field(ge=0)]


class Word(Model):
    """A start that a spec writes as a word."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        word = next(word for word, start in _WORDS.items() if start is cls)
        return {"const": word, "description": cls.__doc__}


class StartEarliest(Word):
    """Start at the first offset still kept."""

    @property
    def position(self) -> Earliest:
        """Where it is."""
        return Earliest()


class StartLatest(Word):
    """Start at the end of everything that can be read now."""

    @property
    def position(self) -> Latest:
        """Where it is."""
        return Latest()


class StartTimestamp(Model):
    """Start at the first record at or after a moment."""

    timestamp: datetime

    @field_validator("timestamp", mode="before")
    @classmethod
    def _is_a_moment(cls, moment: object) -> object:
        # YAML parses a bare date as a date, and quoted text as text.
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        if isinstance(moment, datetime) and moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment

    @property
    def position(self) -> AtMoment:
        """Where it is."""
        return AtMoment(self.timestamp)


class StartOffsets(Model):
    """Start at explicit offsets; partitions that are not named start at their beginning."""

    offsets: dict[str, dict[Annotated[int, Field(ge=0)], Offset]]

    @property
    def position(self) -> AtOffsets:
        """Where it is."""
        return AtOffsets.of(self.offsets)


class StartGroup(Model):
    """Start at a consumer group's offsets; partitions without one start at their beginning."""

    group: str = Field(min_length=1)

    @property
    def position(self) -> AtGroup:
        """Where it is."""
        return AtGroup(self.group)


class StartCheckpoint(Model):
    """Start where a Structured Streaming query stands, by its checkpoint folder."""

    checkpoint: Location

    @property
    def position(self) -> AtCheckpoint:
        """Where it is."""
        return AtCheckpoint(self.checkpoint)


class DeltaIngest(Model):
    """A table of kafka-delta-ingest, the app id of its transactions, and its topic."""

    table: Location
    app_id: str | None = Field(default=None, min_length=1)
    topic: str | None = Field(default=None, min_length=1)


class StartDeltaIngest(Model):
    """Start after the last record that kafka-delta-ingest wrote to a table; it reads one topic."""

    delta_ingest: DeltaIngest

    @property
    def position(self) -> BehindDeltaIngest:
        """Where it is."""
        written = self.delta_ingest
        return BehindDeltaIngest(written.table, written.app_id, written.topic)


_WORDS = {"earliest": StartEarliest, "latest": StartLatest}
_KEYS = {each.key for each in STARTS} - _WORDS.keys()


def named_start(start: object) -> object:
    """Turn the words of a spec, `earliest` and `latest`, into their forms."""
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
        custom_error_message=f"allowed: {', '.join(each.start for each in STARTS)}",
    ),
]
