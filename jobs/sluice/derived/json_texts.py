"""JSON texts: what is read from a text by the columns that an expression names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sluice.columns.columns import Array, ColumnType, Struct, parse_columns
from sluice.derived.casts import BOOLEAN, DOUBLE, FLOAT, STRING, VARIANT, WHOLE
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
        _require_readable(kind)
    except ValueError as problem:
        raise ValueError(f"found from_json(…, {declared.sql}); {problem}") from None
    # The check refuses what the reader passes over: a name twice, half of a pair of characters.
    read = f"from_json({text.sql}, {text_of(str(kind)).sql}, {_STRICT})"
    return Typed(f"(CASE WHEN (try_parse_json({text.sql}) IS NOT NULL) THEN {read} END)", kind)


def _declared(written: str) -> ColumnType:
    if _ONE_TYPE.match(written):
        return one_type(written, "one type, or names before the types")
    return Struct(parse_columns(written))


def one_type(written: str, expected: str) -> ColumnType:
    """The type that a text names. Raises ValueError for a text of several."""
    (one, *more) = parse_columns(f"value {written}")
    if more:
        raise ValueError(f"expected {expected}, found {written!r}")
    return one.type


def _require_readable(kind: ColumnType) -> None:
    for field in kind.fields if isinstance(kind, Struct) else ():
        if field.name.lower() == _OF_SPARK:
            raise ValueError(f"{field.name}: Spark has its own column of this name")
    for place, part in parts_of(kind):
        if part == VARIANT:
            raise ValueError(
                f"{place}: VARIANT is not allowed there: write try_variant_get("
                "try_parse_json(text), '$.a', 'VARIANT')"
            )
        if part not in _READ:
            raise ValueError(
                f"{place}: {part} is not allowed there, since Spark's reader may fail or guess:"
                " declare STRING, then try_cast, unbase64 or get_json_object"
            )


def parts_of(kind: ColumnType, place: str = "") -> Iterator[tuple[str, ColumnType]]:
    """Each type within structs and arrays, at its place: `lines[].id`."""
    match kind:
        case Struct(fields):
            for each in fields:
                yield from parts_of(each.type, f"{place}.{each.name}" if place else each.name)
        case Array(element):
            yield from parts_of(element, f"{place}[]")
        case _:
            yield place, kind
