"""Plain formats: those whose type alone says how a value or key becomes a column. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from sluice.columns.columns import Column, parse_columns
from sluice.columns.declared import Declared, possible
from sluice.spec_file.wraps import CompressionKey
from sluice.strict_model import Model


class PlainFormat(Model):
    """A format without a schema: its type alone says which column it has."""

    type: str
    names_fields: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The decoded part of the data table."""
        raise NotImplementedError(self.type)

    @property
    def declared(self) -> Declared:
        """The one column."""
        return possible(self.columns)

    @property
    def awaits_reader(self) -> bool:
        """Never: there is no schema to wait for."""
        return False

    @property
    def declared_by(self) -> str:
        """The key that says its columns' types."""
        return "type"

    @property
    def decided(self) -> Mapping[str, str]:
        """Nothing decides rows beside the keys of the spec."""
        return {}


class RawFormat(PlainFormat):
    """The bytes in column `value`: unchanged, or without their compression."""

    type: Literal["raw"]
    compression: CompressionKey = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The decoded part of the data table."""
        return parse_columns("value BINARY")
