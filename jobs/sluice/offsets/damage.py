"""Damage: rows of the offsets table that are not there, although its own numbers stand for them."""

from __future__ import annotations

from sluice.errors import OffsetsDamaged
from sluice.moves import Move


def rows_removed(pipeline: str, found: str) -> OffsetsDamaged:
    """The refusal to believe a number without its rows; `found` says what was expected instead."""
    return OffsetsDamaged(
        f"offsets table: {found}. Rows were removed: restore the offsets table, or ",
        Move("recover", (pipeline,)),
        " builds it anew.",
    )
