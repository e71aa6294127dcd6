"""Variants: the types of what is read from a JSON value of any shape. Pure."""

from __future__ import annotations

from sluice.columns.columns import ColumnType, Decimal, Map
from sluice.derived.casts import BINARY, BOOLEAN, DOUBLE, FLOAT, STRING, VARIANT, WHOLE
from sluice.derived.json_texts import one_type, parts_of

_READ = (STRING, BOOLEAN, *WHOLE, FLOAT, DOUBLE, VARIANT)


def type_read(written: str) -> ColumnType:
    """The type that `try_variant_get` is asked for. Raises ValueError for one that it may not read.

    DATE and TIMESTAMP are read as STRING, then cast with a guard: to Spark, the text 22:13 is a
    moment of the day that it runs on.
    """
    kind = one_type(written, "one type")
    _require_readable(kind, "")
    return kind


def _require_readable(kind: ColumnType, above: str) -> None:
    for place, part in parts_of(kind, above):
        if isinstance(part, Map):
            _require_readable(part.value, f"{place}[]")
        elif part not in _READ and not isinstance(part, Decimal):
            at = f"{place}: " if place else ""
            raise ValueError(f"{at}{part} is not allowed there: write STRING, then {_then(part)}")


def _then(kind: ColumnType) -> str:
    return "unbase64" if kind == BINARY else f"try_cast(… AS {kind})"
