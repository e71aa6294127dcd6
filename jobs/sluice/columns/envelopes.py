"""Envelopes: what Connect and Debezium put around a row, and what they say of its columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from sluice.columns import change_events
from sluice.columns.connect_types import ConnectType, typed
from sluice.columns.declared import Declared

Envelope = Literal["connect", "debezium"]
"""`connect`: Connect's converters wrote the record. `debezium`: it is a change event, besides."""


def ours(envelope: Envelope | None) -> Sequence[str]:
    """The names that are Sluice's own where a format has the envelope."""
    return change_events.OURS if envelope == "debezium" else ()


def row_within(envelope: Envelope | None) -> str | None:
    """The field of a record that holds the row; None where the record is the row."""
    return change_events.AFTER if envelope == "debezium" else None


def row_of(
    record: Declared, envelope: Envelope | None, types: Mapping[str, ConnectType]
) -> Declared:
    """What the schema of a record says of the row. Raises ValueError for one without a row.

    `types` are those that it only names of the row's fields.
    """
    match envelope:
        case "debezium":
            return change_events.row_of(record, types)
        case "connect":
            return typed(record, types)
        case None:
            return record


def with_marks(row: Declared, envelope: Envelope | None) -> Declared:
    """The columns of a table, given those of the row."""
    return change_events.with_marks(row) if envelope == "debezium" else row
