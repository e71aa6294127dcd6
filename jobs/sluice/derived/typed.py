"""Typed: a part of an expression, and its type. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.columns.columns import ColumnType


@dataclass(frozen=True)
class Typed:
    """A part of an expression: as Spark is given it, its type, and its value if it is written.

    `name` is that of a column.
    """

    sql: str
    type: ColumnType
    written: str | int | None = None
    name: str = ""
