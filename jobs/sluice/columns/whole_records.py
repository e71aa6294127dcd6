"""Whole records: those of any shape, each in one column. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.columns.columns import Column, parse_columns
from sluice.columns.taking import Taken

_WHOLE = parse_columns("value VARIANT")


def is_whole(columns: Sequence[Column]) -> bool:
    """Whether the one column is the record itself, whatever JSON it is, and no field of it."""
    return tuple(columns) == _WHOLE


def require_none_taken(taken: Sequence[Taken]) -> None:
    """Raises ValueError for columns that a spec takes out of whole records."""
    for each in taken:
        raise ValueError(
            f"columns.{each.name}: expected no column beside `value VARIANT`, which is the whole"
            " record: read it in `derived`, with try_variant_get(value, '$.name', 'STRING'), or"
            " declare fields in its place"
        )
