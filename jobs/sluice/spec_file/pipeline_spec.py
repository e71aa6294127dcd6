"""The spec: one pipeline's YAML file, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from sluice.columns.columns import Column
from sluice.columns.names import KEY_PREFIX
from sluice.offsets.losses import ON_DATA_LOSS, OnDataLoss
from sluice.offsets.quarantine_budget import FEW_RECORDS, QuarantineBudget
from sluice.offsets.spec_edition import SpecEdition
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.alerts import Alerts
from sluice.spec_file.column_sources import ColumnSource
from sluice.spec_file.formats import CONNECTION, Format, RegisteredFormat, Source
from sluice.spec_file.key_formats import KeyFormat, as_written_beside
from sluice.spec_file.only import MOST_RECORDS, Only
from sluice.spec_file.pipeline_names import Name, TableName, TopicName, default_group
from sluice.spec_file.record_formats import RecordFormats
from sluice.spec_file.schedules import longest_interval, require_schedule
from sluice.spec_file.spark_keys import key_refusal
from sluice.spec_file.starts import Start, StartEarliest, named_start
from sluice.spec_file.state import State
from sluice.spec_file.table_properties import SCHEMA as PROPERTIES
from sluice.spec_file.table_properties import as_property, require_allowed
from sluice.spec_file.table_shape import TableShape
from sluice.state_table.rules import StateRules
from sluice.strict_model import Model

_LEAST_PATIENCE = timedelta(minutes=15)
# Kafka's own topics. Mirroring the cursor writes to the first: it would never be fully read.
_INTERNAL = ("__consumer_offsets", "__share_group_state", "__transaction_state")
# Keys that say where, when and how fast to read, and who owns it; they decide no rows.
_NOT_ABOUT_ROWS = frozenset(
    {
        *("version", "pipeline", "kafka", "table", "schedule", "start", "consumer_group", "alerts"),
        *("max_records_per_batch", "max_batches_per_run", "on_data_loss", "owner", "description"),
        *("partition_by", "cluster_by", "spark", "comments", "properties", "target_file_size"),
        "state",
    }
)
_MAY_BE_EMPTY = ("include", "exclude", "derived", "rescue", "required", "column_sources")
FILE_SIZE = r"^[1-9][0-9]{0,3}[mg]$"
Evolution = Literal["strict", "add_columns", "widen"]


class Quarantine(Model):
    """How many undecodable records a batch may have: it fails if it exceeds both limits."""

    max_ratio: float = Field(default=0.01, ge=0, le=1)
    max_records: int | None = Field(default=None, ge=0)

    @property
    def budget(self) -> QuarantineBudget:
        """Both limits. A ratio of 0 means none at all, unless a number is written beside it."""
        given = self.max_records
        few = FEW_RECORDS if self.max_ratio else 0
        return QuarantineBudget(self.max_ratio, few if given is None else given)


class PipelineSpec(Model):
    """One pipeline: topics or a topic pattern into one Delta table."""

    version: Literal[1]
    pipeline: Name
    kafka: str = Field(default="kafka_default", pattern=CONNECTION)
    topics: list[TopicName] | None = Field(default=None, min_length=1)
    topic_pattern: str | None = None
    except_topics: list[TopicName] = Field(default=[])
    table: TableName
    format: Format
    key_format: KeyFormat | None = None
    only: Only | None = None
    evolution: Evolution = "strict"
    rescue: bool = False
    schedule: str | None = None
    start: Start = StartEarliest()
    # At most what a receipt can account for within the longest run (scheduling.time_limits).
    max_records_per_batch: int = Field(default=5_000_000, ge=1, le=1_000_000_000)
    max_batches_per_run: int = Field(default=20, ge=1, le=1000)
    on_data_loss: Literal["fail", "record"] = "fail"
    quarantine: Quarantine = Quarantine()
    consumer_group: str | None = Field(default=None, min_length=1)
    partition_by: list[str] = Field(default=[])
    cluster_by: list[str] = Field(default=[], max_length=4)
    include: list[str] = Field(default=[])
    exclude: list[str] = Field(default=[])
    column_sources: dict[str, ColumnSource] = Field(default={}, alias="columns", max_length=1000)
    required: list[str] = Field(default=[], max_length=1000)
    derived: dict[str, str] = Field(default={}, max_length=100)
    comments: dict[str, Annotated[str, Field(max_length=1000)]] = Field(default={})
    properties: Annotated[dict[str, str], WithJsonSchema(PROPERTIES)] = Field(default={})
    target_file_size: str | None = Field(default=None, pattern=FILE_SIZE)
    state: State | None = None
    alerts: Alerts = Alerts()
    spark: dict[str, str] = Field(default={})
    owner: str = "airflow"
    description: str = ""

    @model_validator(mode="before")
    @classmethod
    def _group_has_a_default(cls, given: Any) -> Any:
        # A missing key means the default name; null means no group at all.
        if isinstance(given, dict) and "consumer_group" not in given:
            return {**given, "consumer_group": default_group(given.get("pipeline"))}
        return given

    @field_validator("version", mode="before")
    @classmethod
    def _is_a_number(cls, version: object) -> object:
        # To Python, true equals 1.
        if type(version) is not int:
            raise ValueError("expected 1")
        return version

    @field_validator("start", mode="before")
    @classmethod
    def _start_may_be_a_word(cls, start: object) -> object:
        return named_start(start)

    @field_validator("schedule")
    @classmethod
    def _is_cron(cls, schedule: str | None) -> str | None:
        if schedule is not None:
            require_schedule(schedule)
        return schedule

    @field_validator("topic_pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as problem:
            raise ValueError(f"expected a regular expression: {problem}") from None
        return pattern

    @field_validator("spark")
    @classmethod
    def _is_spark_configuration(cls, conf: Mapping[str, str]) -> Mapping[str, str]:
        for key, value in conf.items():
            if refusal := key_refusal(key, value):
                raise ValueError(f"found {key}: {refusal}")
        return conf

    @field_validator("properties", mode="before")
    @classmethod
    def _property_may_be_a_number(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {k: as_property(v) if isinstance(v, bool | int) else v for k, v in given.items()}

    @field_validator("properties")
    @classmethod
    def _is_allowed(cls, properties: Mapping[str, str]) -> Mapping[str, str]:
        require_allowed(properties)
        return properties

    @model_validator(mode="after")
    def _fits_together(self) -> PipelineSpec:
        if (self.topics is None) == (self.topic_pattern is None):
            raise ValueError("expected exactly one of the keys topics and topic_pattern")
        if self.topics and len(set(self.topics)) < len(self.topics):
            raise ValueError("topics: a topic is named twice")
        if self.except_topics and self.topic_pattern is None:
            raise ValueError("except_topics goes with topic_pattern; shorten topics instead")
        if self.partition_by and self.cluster_by:
            raise ValueError("expected at most one of the keys partition_by and cluster_by")
        if self.include and self.exclude:
            raise ValueError("expected at most one of the keys include and exclude")
        if self.rescue and self.evolution != "strict":
            raise ValueError(
                "rescue goes with evolution: strict; the others give new fields columns"
            )
        if self.rescue and not self.format.names_fields:
            raise ValueError(
                f"rescue goes with records that name their fields, found type: {self.format.type}"
            )
        keys = self.key_format
        if isinstance(keys, RegisteredFormat) and keys.envelope == "debezium":
            raise ValueError(
                "key_format: found envelope: debezium, which goes with format: only values are"
                " change events. Leave it out, or write envelope: connect"
            )
        for name in self.column_sources:
            if name == KEY_PREFIX:
                raise ValueError(
                    f"columns.{name}: expected a column's name behind {name}, such as _key_id"
                )
            key = self._source_of(name)
            if not isinstance(getattr(self, key), RegisteredFormat):
                raise ValueError(f"columns.{name}: expected {key} with type json, avro or protobuf")
        self._require_only()
        self._require_columns()
        return self

    def _require_only(self) -> None:
        if self.only is None:
            return
        self.only.require(self.format)
        if self.max_records_per_batch > MOST_RECORDS:
            raise ValueError(
                f"max_records_per_batch: expected at most {MOST_RECORDS} with only, found"
                f" {self.max_records_per_batch}"
            )

    def _require_columns(self) -> None:
        """Raises ValueError where the spec's columns, as far as known, do not fit together."""
        self.formats.require()
        if self.formats.awaits_reader:
            return
        self.shape.require()
        _ = self.state_rules
        if self.only is not None:
            self.only.require_reader(self.format)
            if self.only.where is not None:
                self.only.condition(self.readable)

    @staticmethod
    def _source_of(column: str) -> str:
        """The key of the format from whose records a column under `columns` is taken."""
        return "key_format" if column.startswith(KEY_PREFIX) else "format"

    def _taking(self, key: str) -> Any:
        form = getattr(self, key)
        prefix = KEY_PREFIX if key == "key_format" else ""
        taken = [
            each.taken(name.removeprefix(prefix), prefix)
            for name, each in self.column_sources.items()
            if self._source_of(name) == key
        ]
        return form.taking(taken) if taken else form

    @property
    def formats(self) -> RecordFormats:
        """How a record is decoded."""
        value, key = self._taking("format"), self._taking("key_format")
        key = as_written_beside(value, key)
        apart = self.only is not None and not self.only.by_bytes
        return RecordFormats(value, key, self.rescue, tuple(self.required), apart)

    def with_readers(self, readers: Mapping[Source, RegisteredSchema]) -> PipelineSpec:
        """The spec whose formats read as these schemas. Raises ValueError where it does not fit."""
        found = self.model_copy(update=dict(self.formats.read_as(readers)))
        found._require_columns()
        return found

    @property
    def columns(self) -> tuple[Column, ...]:
        """The fields of a decoded record. Raises LookupError while a reader schema is unknown."""
        return self.formats.value.columns

    @property
    def readable(self) -> tuple[Column, ...]:
        """The fields of a decoded record and of its key, which expressions may read."""
        return (*self.columns, *self.formats.key_columns)

    @property
    def shape(self) -> TableShape:
        """What the spec says about the data table's columns."""
        layout = ("partition_by", "cluster_by", "comments", "properties")
        given = {e: getattr(self, e) for e in ("include", "exclude", "derived", *layout)}
        grows = "value" in self.formats.registered
        return TableShape(self.columns, self.formats.key_columns, grows=grows, **given)

    @property
    def state_rules(self) -> StateRules | None:
        """What makes the state table; None where there is none. Raises ValueError, LookupError."""
        if self.state is None:
            return None
        is_change = isinstance(self.format, RegisteredFormat) and self.format.envelope == "debezium"
        return self.state.rules(self.shape.columns, self.formats.key_columns, is_change)

    @property
    def edition(self) -> SpecEdition:
        """What of the spec decides the rows of a batch; stored with the batch."""
        # An empty one is as none: specs of before keep their edition.
        empty = {key for key in _MAY_BE_EMPTY if not getattr(self, key)}
        left_out = {*_NOT_ABOUT_ROWS, *empty}
        keys = self.model_dump(mode="json", by_alias=True, exclude=left_out, exclude_none=True)
        return SpecEdition.of(keys | dict(self.formats.decided))

    @property
    def example_topic(self) -> str:
        """A topic that texts about the pipeline may name as an example."""
        return self.topics[0] if self.topics else "topic"

    @property
    def patience(self) -> timedelta | None:
        """How old an unread record may be before the pipeline counts as behind.

        `alerts.max_lag`, else two of the schedule's intervals, but at least a quarter of an hour.
        None without either: who starts runs by hand decides when.
        """
        if self.alerts.max_lag is not None:
            return self.alerts.max_lag
        if self.schedule is None:
            return None
        return max(2 * longest_interval(self.schedule), _LEAST_PATIENCE)

    @property
    def data_loss(self) -> OnDataLoss:
        """What the pipeline does about lost offsets."""
        return ON_DATA_LOSS[self.on_data_loss]

    def selects(self, topic: str) -> bool:
        """Whether the pipeline reads a topic of this name."""
        if self.topics is not None:
            return topic in self.topics
        matches = re.fullmatch(self.topic_pattern or "", topic) is not None
        return matches and topic not in {*self.except_topics, *_INTERNAL}
