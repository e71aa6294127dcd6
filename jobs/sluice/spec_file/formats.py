"""Formats: how a record's value, or its key, becomes columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from sluice.columns import change_events, envelopes
from sluice.columns.columns import Column, ColumnType, parse_columns
from sluice.columns.connect_types import ConnectType
from sluice.columns.declared import Declared, possible
from sluice.columns.envelopes import Envelope
from sluice.columns.taking import Reading, Taken, require_apart, require_no_rivals, taking, type_at
from sluice.columns.whole_records import is_whole, require_none_taken
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.spec_file.declarations import require_declarable, schema_of_file
from sluice.spec_file.places import AtKey
from sluice.spec_file.plain_formats import RawFormat
from sluice.spec_file.wraps import CompressionKey, Frame, fitting
from sluice.strict_model import Model, one_of

CONNECTION = r"^[A-Za-z_][A-Za-z0-9_]*$"
RECORD = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$"
Source = Literal["value", "key"]
KEY_OF: Mapping[Source, str] = {"value": "format", "key": "key_format"}
"""The spec's key for the format of each."""
SubjectStrategy = Literal["topic", "record", "topic_record"]


class RegisteredFormat(Model):
    """A format whose schema is in a file or in a registry: records are read as its `reader`.

    With `registry`, records name the schema that they were written with.
    """

    model_config = one_of("registry", "schema_file")
    type: str
    registry: str | None = Field(default=None, pattern=CONNECTION)
    subject_strategy: SubjectStrategy = "topic"
    record: str | None = Field(default=None, pattern=RECORD)
    schema_file: str | None = Field(default=None, min_length=1)
    envelope: Envelope | None = None
    frame: Frame | None = None
    compression: CompressionKey = None
    _reader: RegisteredSchema | None = PrivateAttr(default=None)
    _taken: tuple[Taken, ...] = PrivateAttr(default=())
    kind: ClassVar[Kind]

    @field_validator("frame")
    @classmethod
    def _frame_fits(cls, frame: Frame | None, info: ValidationInfo) -> Frame | None:
        if "registry" not in info.data:
            return frame
        registered, named = info.data["registry"] is not None, bool(info.data.get("envelope"))
        return fitting(frame, info.data["type"], registered, named)

    @model_validator(mode="after")
    def _has_a_schema(self, info: ValidationInfo) -> Self:
        by_topic = self.subject_strategy == "topic"
        if self.registry is None and not by_topic:
            raise ValueError("subject_strategy goes with registry")
        if self.record is not None and by_topic and not kind_of(self.kind).many_records:
            raise ValueError("record goes with subject_strategy: record, or topic_record")
        if self.schema_file is not None:
            files = (info.context or {}).get("files", {})
            named = (self.schema_file, *self.further_files)
            self._reader = schema_of_file(named, files, self.kind, self.record)
        elif self.registry and not by_topic and self.record is None:
            raise ValueError(
                f"subject_strategy: {self.subject_strategy} needs record: the full name of the"
                " record that the table is for"
            )
        return self

    @model_validator(mode="after")
    def _names_a_schema(self) -> Self:
        if self.registry is None and self.schema_file is None:
            raise ValueError("expected registry, or schema_file, or both; found neither")
        return self

    @property
    def further_files(self) -> Sequence[str]:
        """The files beside `schema_file` that its schema needs."""
        return ()

    @property
    def names_fields(self) -> bool:
        """Whether records tell the names of fields that no column declares."""
        return kind_of(self.kind).by_name

    @property
    def reader(self) -> RegisteredSchema | None:
        """The schema that all records are read as; None until it is known."""
        return self._reader

    @property
    def follows_registry(self) -> bool:
        """Whether its columns come from the registry, and not from the spec."""
        return self.schema_file is None

    @property
    def declared_by(self) -> str:
        """The key that says its columns' types, and which file or schema it leads to."""
        if self.schema_file is not None:
            return f"schema_file {self.schema_file}"
        return f"registry {self.registry}, schema {self._reader.key if self._reader else 'unknown'}"

    @property
    def awaits_reader(self) -> bool:
        """Whether the columns are known only when the registry is asked."""
        return self.follows_registry and self._reader is None

    @property
    def decided(self) -> Mapping[str, str]:
        """What decides rows beside the keys of the spec: which reader schema it is."""
        if (reader := self._reader) is None:
            return {}
        return {"reader": reader.digest if reader.key == self.schema_file else reader.key}

    def read_as(self, reader: RegisteredSchema) -> Self:
        """The same format with its reader schema."""
        found = self.model_copy()
        found._reader = reader
        return found

    def subject(self, topic: str, source: Source) -> str:
        """The registry's name for a topic's schemas (Confluent's subject name strategies)."""
        match self.subject_strategy:
            case "topic":
                return f"{topic}-{source}"
            case "record":
                return str(self.record)
            case "topic_record":
                return f"{topic}-{self.record}"

    def other_record(self, found: RegisteredSchema) -> str:
        """Which record a schema describes, where that is not the reader's; else empty."""
        return kind_of(self.kind).other_record(found, self._reader, self.record)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The decoded part of the data table. Raises LookupError while the reader is unknown."""
        return self.declared.columns

    @property
    def declared(self) -> Declared:
        """The columns, and the schema's fields that they do not hold. Raises LookupError."""
        reading = self.reading
        row = self._row if reading is None else reading.declared
        return envelopes.with_marks(row, self.envelope)

    @property
    def reading(self) -> Reading | None:
        """What records are read as where columns are taken from fields of them; else None."""
        if self.envelope != "debezium" and not self._taken:
            return None
        opens = kind_of(self.kind).opens
        return taking(self._row, self._taken, opens, envelopes.ours(self.envelope))

    @property
    def has_text_rows(self) -> bool:
        """Whether events hold their rows as one text. In JSON each record tells by itself."""
        may_be = self.envelope == "debezium" and not kind_of(self.kind).opens
        return may_be and change_events.is_text(self._of_schema)

    @property
    def _row(self) -> Declared:
        """The record; of an event the row that it is about."""
        return envelopes.row_of(self._of_schema, self.envelope, self.connect_types)

    @property
    def _of_schema(self) -> Declared:
        if self._reader is None:
            raise LookupError(f"{self.registry}: the reader schema is not known yet")
        kind = kind_of(self.kind)
        schema = kind.meant(self._reader) if self.envelope else self._reader
        return kind.declared(schema, self.record)

    @property
    def connect_types(self) -> Mapping[str, ConnectType]:
        """By the fields of the row, the types that the schema only names."""
        within, known = envelopes.row_within(self.envelope), self.envelope and self._reader
        return kind_of(self.kind).connect_types(known, within) if known else {}

    @property
    def taken_types(self) -> Mapping[Taken, ColumnType | None]:
        """The schema's types of the fields that columns take; None of one that it has not."""
        fields = self._row.fields
        return {each: type_at(fields, each.path) for each in self._taken}

    def require_apart(self) -> None:
        """Raises ValueError for columns that cannot be taken, whatever the schema is."""
        require_apart(self._taken, envelopes.ours(self.envelope))

    def taking(self, columns: Iterable[Taken]) -> Self:
        """The same format, with columns that are taken from fields of its records."""
        found = self.model_copy()
        found._taken = tuple(columns)
        return found


class TextFormat(RegisteredFormat):
    """A format whose schema is text, and may be in several files, all in the spec's folder."""

    schema_files: list[Annotated[str, Field(min_length=1)]] = Field(default=[])

    @property
    def further_files(self) -> Sequence[str]:
        """The files beside `schema_file` that its schema needs."""
        return self.schema_files

    @model_validator(mode="after")
    def _has_a_first_file(self) -> Self:
        if self.schema_files and self.schema_file is None:
            raise ValueError("schema_files goes with schema_file: the file that refers to them")
        return self


class AvroFormat(TextFormat):
    """Avro's binary encoding: each record is resolved from its writer's schema to the reader's."""

    type: Literal["avro"]
    kind: ClassVar[Kind] = "AVRO"


class ProtobufFormat(RegisteredFormat):
    """Protocol Buffers: `schema_file` is a descriptor set, `record` the message's full name."""

    type: Literal["protobuf"]
    kind: ClassVar[Kind] = "PROTOBUF"

    @model_validator(mode="after")
    def _names_a_message(self) -> Self:
        if self.schema_file is not None and self.record is None:
            raise ValueError("schema_file goes with record: the full name of the message")
        return self


class JsonFormat(TextFormat):
    """One JSON object per record, decoded into the declared columns, or those of its schema."""

    model_config = one_of("schema", "registry", "schema_file")
    type: Literal["json"]
    schema_text: str | None = Field(default=None, alias="schema")
    timestamp_unit: Literal["s", "ms", "us"] | None = None
    allow_unmatched: bool = False
    at: AtKey | None = None
    kind: ClassVar[Kind] = "JSON"

    @field_validator("schema_text")
    @classmethod
    def _columns_are_declared(cls, text: str | None, info: ValidationInfo) -> str | None:
        if text is not None:
            require_declarable(text, envelopes.ours(info.data.get("envelope")))
        return text

    @model_validator(mode="after")
    def _names_a_schema(self) -> Self:
        if self.schema_text is None and self.registry is None and self.schema_file is None:
            raise ValueError("expected schema, or registry, or schema_file; found none")
        if self.schema_text is not None and self.schema_file is not None:
            raise ValueError("expected at most one of the keys schema and schema_file")
        return self

    @property
    def has_fields(self) -> bool:
        """Whether records are objects with fields; else each is one column, text or VARIANT."""
        if self.schema_text is not None:
            return bool(self.envelope) or not is_whole(self._of_schema.columns)
        return bool(self._taken or self.envelope == "debezium") or not self._is_one_value

    @property
    def _is_one_value(self) -> bool:
        """Whether the schema says of no field what it is."""
        return self._reader is not None and not kind_of(self.kind).has_fields(self._reader)

    @property
    def follows_registry(self) -> bool:
        """Whether its columns come from the registry, and not from the spec."""
        return self.schema_text is None and super().follows_registry

    @property
    def declared_by(self) -> str:
        """The key that says its columns' types, and which file or schema it leads to."""
        return "schema" if self.schema_text is not None else super().declared_by

    @property
    def _of_schema(self) -> Declared:
        if self.schema_text is not None:
            return possible(parse_columns(self.schema_text), envelopes.ours(self.envelope))
        # The spec may know fields of records of which the schema knows none.
        return Declared(()) if self._taken and self._is_one_value else super()._of_schema

    def require_apart(self) -> None:
        """Raises ValueError for columns that cannot be taken, whatever the schema is."""
        super().require_apart()
        if self.schema_text is not None and not self.has_fields:
            require_none_taken(self._taken)
        elif self.schema_text is not None and self.reading:
            require_no_rivals(self.reading)

    @property
    def _row(self) -> Declared:
        # The spec declares the row itself.
        return self._of_schema if self.schema_text is not None else super()._row


Format = Annotated[
    JsonFormat | RawFormat | AvroFormat | ProtobufFormat, Field(discriminator="type")
]
FORMATS: Mapping[str, type[Model]] = {
    "json": JsonFormat,
    "raw": RawFormat,
    "avro": AvroFormat,
    "protobuf": ProtobufFormat,
}
"""By their type, in the order in which messages list them."""
