"""Misfits: the error of a value that does not fit its column: where, expected, found.

The same words whatever the format: `trip.legs[2].day: expected DATE, found "2013-02-30"`. What was
found is the JSON text of the value; error_groups knows this form.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

MOST_SHOWN = 100
"""Characters of a value that an error shows."""


def misfit(path: Column | str, declared: T.DataType | str, found: Column) -> Column:
    """The error's text; null where `found`, the JSON text of a value, is null.

    `declared` may also be an expectation in words, such as `a number that STRING can hold`.
    """
    where = F.lit(path) if isinstance(path, str) else path
    expected = declared if isinstance(declared, str) else type_text(declared)
    return F.concat(where, F.lit(f": expected {expected}, found "), _shortened(found))


def quoted(text: Column) -> Column:
    """A string as JSON text."""
    array = F.to_json(F.array(text))
    return F.when(text.isNotNull(), F.substring(array, F.lit(2), F.length(array) - 2))


def type_text(declared: T.DataType) -> str:
    """The type as a spec names it, but structs only by that word: their fields have own errors."""
    match declared:
        case T.StructType():
            return "STRUCT"
        case T.ArrayType():
            return f"ARRAY<{type_text(declared.elementType)}>"
        case T.MapType():
            return f"MAP<STRING, {type_text(declared.valueType)}>"
        case _:
            return declared.simpleString().upper()


def _shortened(json: Column) -> Column:
    """A string that is cut keeps its closing quote."""
    end = F.when(json.startswith('"'), F.lit('…"')).otherwise(F.lit("…"))
    cut = F.concat(F.substring(json, 1, MOST_SHOWN), end)
    return F.when(F.length(json) > MOST_SHOWN + 2, cut).otherwise(json)
