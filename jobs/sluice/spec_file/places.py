"""Places: where in a value its record is, for values that hold others. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from sluice.columns.taking import Path, parse_path

WHOLE = "$"
"""The place of a record that is all of its value, which may be a text that holds it."""
INSTEAD: Mapping[str, str] = {
    "at": "it goes with type: json. In other formats, take the fields with `columns`:"
    " docs/formats.md#columns-from-other-fields",
    "each": "one offset is one row. Declare the list as an ARRAY of STRUCTs, and a view that has a"
    " row for each of them: docs/tables.md#records-that-hold-several",
}
"""Keys that a format, or a spec, has not, and what to do instead."""


def place_of(at: str) -> Path:
    """The names that lead to the record, from the outermost. Raises ValueError."""
    return () if at == WHOLE else parse_path(at)


def _is_a_place(at: str, info: ValidationInfo) -> str:
    place_of(at)
    if info.data.get("envelope") is not None:
        raise ValueError("expected no envelope beside it, which says where its row is: keep one")
    return at


AtKey = Annotated[str, AfterValidator(_is_a_place)]
