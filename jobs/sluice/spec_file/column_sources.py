"""Column sources: where the columns under the spec's key `columns` come from. Pure."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from sluice.columns.columns import ColumnType, Decimal, Primitive, parse_columns
from sluice.columns.taking import Taken, parse_path
from sluice.strict_model import Model

# Of Kafka Connect's decimals: their digits are a number in bytes, their scale is the schema's.
_MOST_DIGITS = 38


class ColumnSource(Model):
    """A field, and what the schema does not say of its values; a text alone is a field."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "string"]})
    source: str = Field(alias="from", min_length=1)
    type: str | None = None
    unit: Literal["s", "ms", "us", "ns", "days"] | None = None
    encoding: Literal["base64", "connect_decimal"] | None = None
    scale: int | None = Field(default=None, ge=0, le=_MOST_DIGITS)

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_field_alone(cls, given: Any) -> Any:
        return {"from": given} if isinstance(given, str) else given

    @field_validator("source")
    @classmethod
    def _is_a_path(cls, source: str) -> str:
        parse_path(source)
        return source

    @field_validator("type")
    @classmethod
    def _is_a_type(cls, text: str | None) -> str | None:
        if text is not None:
            _parsed(text)
        return text

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.unit and self.encoding:
            raise ValueError("expected at most one of the keys unit and encoding")
        if (self.scale is not None) != (self.encoding == "connect_decimal"):
            raise ValueError("scale goes with encoding: connect_decimal, which needs it")
        declared, meant = self.declared_type, self._meant_type
        as_meant = declared == meant or (
            isinstance(declared, Decimal)
            and isinstance(meant, Decimal)
            and declared.scale == meant.scale
        )
        if meant is not None and not as_meant:
            raise ValueError(f"found type {declared}; expected {meant}, or no type")
        return self

    @property
    def declared_type(self) -> ColumnType | None:
        """The column's type; None where the schema says it."""
        return self._meant_type if self.type is None else _parsed(self.type)

    @property
    def _meant_type(self) -> ColumnType | None:
        if self.unit is not None:
            return Primitive("DATE" if self.unit == "days" else "TIMESTAMP")
        if self.encoding == "base64":
            return Primitive("BINARY")
        return None if self.scale is None else Decimal(_MOST_DIGITS, self.scale)

    def taken(self, column: str, prefix: str) -> Taken:
        """The column of this name, which the spec has behind a prefix."""
        path, by_name = parse_path(self.source), not self.source.startswith("$")
        return Taken(column, path, self.declared_type, self.unit, self.encoding, prefix, by_name)


def _parsed(text: str) -> ColumnType:
    if not text.strip():
        raise ValueError("expected a type such as STRING, found none")
    first, *more = parse_columns(f"value {text}")
    if more:
        raise ValueError(f"expected one type, found ',' behind {first.type}")
    return first.type
