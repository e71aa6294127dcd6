"""Key formats: how a record's key becomes columns. Pure.

Beside the formats of values, those of Kafka's own serializers of one number or text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from sluice.columns.columns import Column, parse_columns
from sluice.columns.envelopes import Envelope
from sluice.spec_file.formats import (
    FORMATS,
    AvroFormat,
    Format,
    JsonFormat,
    ProtobufFormat,
    RegisteredFormat,
)
from sluice.spec_file.plain_formats import PlainFormat, RawFormat
from sluice.strict_model import Model

Scalar = Literal["long", "int", "text", "uuid"]
_COLUMNS: Mapping[Scalar, str] = {
    "long": "BIGINT",
    "int": "INT",
    "text": "STRING",
    "uuid": "STRING",
}
SCALARS = tuple(_COLUMNS)


class ScalarFormat(PlainFormat):
    """One number or text, as Kafka's LongSerializer and its like write it, in column `value`."""

    type: Scalar

    @property
    def columns(self) -> tuple[Column, ...]:
        """The decoded part of the data table."""
        return parse_columns(f"value {_COLUMNS[self.type]}")


def named_key_format(given: object) -> object:
    """A type alone, `key_format: long`, is a format that has no further keys."""
    return {"type": given} if isinstance(given, str) else given


_Mapping = Annotated[
    JsonFormat | RawFormat | AvroFormat | ProtobufFormat | ScalarFormat,
    Field(discriminator="type"),
]
KeyFormat = Annotated[
    _Mapping,
    BeforeValidator(named_key_format, json_schema_input_type=_Mapping | Literal["raw"] | Scalar),
]
KEY_FORMATS: Mapping[str, type[Model]] = {**FORMATS, **dict.fromkeys(SCALARS, ScalarFormat)}
"""By their type, in the order in which messages list them."""


def as_written_beside(value: Format, key: KeyFormat | None) -> KeyFormat | None:
    """The keys' format, where Connect's converters write both: in an envelope, if values are."""
    if not isinstance(value, RegisteredFormat) or not isinstance(key, RegisteredFormat):
        return key
    implied: Envelope | None = "connect" if value.envelope else key.envelope
    return key.model_copy(update={"envelope": implied})
