"""Held places: whether a table has a field of a schema, as a column or in a text."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.columns.columns import Array, Column, ColumnType, Struct
from sluice.columns.declared import Place


def is_held(columns: Sequence[Column], place: Place) -> bool:
    """Whether a column has the place, or is the text of what is above it."""
    found: ColumnType = Struct(tuple(columns))
    for name in place:
        match found:
            case Struct(fields):
                below = [each.type for each in fields if each.name == name]
                if not below:
                    return False
                (found,) = below
            case Array(inner) if name is None:
                found = inner
            case _:
                return str(found) == "STRING"
    return True
