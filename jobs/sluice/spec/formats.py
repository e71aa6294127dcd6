"""Formats: how a record's value becomes columns."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from sluice.spec.columns import Column, parse_columns
from sluice.strict_model import Model


class RawFormat(Model):
    """The value's bytes, unchanged, in column `value`."""

    type: Literal["raw"]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The decoded part of the data table."""
        return parse_columns("value BINARY")


class JsonFormat(Model):
    """One JSON object per record, decoded into the declared columns."""

    type: Literal["json"]
    schema_text: str = Field(alias="schema")
    timestamp_unit: Literal["s", "ms", "us"] | None = None

    @field_validator("schema_text")
    @classmethod
    def _columns_are_declared(cls, text: str) -> str:
        for column in parse_columns(text):
            if column.name.startswith("_"):
                raise ValueError(f"{column.name}: names that start with _ are Sluice's own")
        return text

    @property
    def columns(self) -> tuple[Column, ...]:
        """The decoded part of the data table."""
        return parse_columns(self.schema_text)


Format = Annotated[JsonFormat | RawFormat, Field(discriminator="type")]
