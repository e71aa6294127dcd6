"""JSON texts: what is read from a text by the columns that an expression names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sluice.columns.columns import Array, Column, ColumnType, Struct, parse_columns
from sluice.derived.casts import BOOLEAN, DOUBLE, FLOAT, STRING, WHOLE
from sluice.derived.typed import Typed
from sluice.derived.written_values import text_of

_READ = (STRING, BOOLEAN, *WHOLE, FLOAT, DOUBLE)
_ONE_TYPE = re.compile(r"\s*(?:ARRAY|STRUCT)\s*<", re.IGNORECASE)
# Where Spark would put the text of a record that does not fit.
_OF_SPARK = "_corrupt_record"
# The rules of JSON, of which Spark's reader knows exceptions.
_STRICT = "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false')"


def from_json(given: Sequence[Typed]) -> Typed:
    """`from_json(text, 'id INT, lines ARRAY<STRING>')`: NULL where a text or a field does not fit.

    Raises ValueError with what was found and what is allowed.
    """
    if len(given) != 2 or given[0].type != STRING or not isinstance(given[1].written, str):
        found = ", ".join(str(each.type) for each in given)
        raise ValueError(
            f"found from_json({found}); expected a STRING, and written columns or an ARRAY, such as"
            " 'id INT, lines ARRAY<STRING>'"
        )
    (text, declared), written = given, given[1].written
    try:
        kind = _declared(written)
        _require_readable(kind, "")
    except ValueError as problem:
        raise ValueError(f"found from_json(…, {declared.sql}); {problem}") from None
    # The check refuses what the reader passes over: a name twice, half of a pair of characters.
    read = f"from_json({text.sql}, {text_of(str(kind)).sql}, {_STRICT})"
    return Typed(f"(CASE WHEN (try_parse_json({text.sql}) IS NOT NULL) THEN {read} END)", kind)


def _declared(written: str) -> ColumnType:
    if _ONE_TYPE.match(written):
        (one, *more) = parse_columns(f"value {written}")
        if more:
            raise ValueError(f"expected one type, or names before the types, found {written!r}")
        return one.type
    return Struct(parse_columns(written))


def _require_readable(kind: ColumnType, place: str) -> None:
    match kind:
        case Struct(fields):
            for each in fields:
                _require_readable(each.type, _below(place, each))
        case Array(element):
            _require_readable(element, f"{place}[]")
        case _ if kind not in _READ:
            raise ValueError(
                f"{place}: {kind} is not allowed there, since Spark's reader may fail or guess:"
                " declare STRING, then try_cast, unbase64 or get_json_object"
            )


def _below(place: str, field: Column) -> str:
    if not place and field.name.lower() == _OF_SPARK:
        raise ValueError(f"{field.name}: Spark has its own column of this name")
    return f"{place}.{field.name}" if place else field.name
