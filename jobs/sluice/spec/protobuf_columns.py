"""Columns of a schema: to come with the format."""

from __future__ import annotations

from sluice.spec.columns import Column
from sluice.spec.registered import RegisteredSchema


def protobuf_columns(schema: RegisteredSchema, message: str | None) -> tuple[Column, ...]:
    """The columns. Raises ValueError for what no table can hold, by its name."""
    raise NotImplementedError
