"""Operators: what two or more parts of an expression make. Pure.

Each raises ValueError where a record could make Spark fail, and where Spark would have to guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sluice.columns.columns import ColumnType, Struct
from sluice.columns.names import quoted
from sluice.derived.casts import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    OF_VARIANT,
    STRING,
    TIMESTAMP,
    UNCHECKED,
    VARIANT,
    VOID,
    WHOLE,
    can_be_tried,
    common_type,
    is_number,
    is_simple,
    never_fails,
    struct_field,
)
from sluice.derived.guards import moment_in
from sluice.derived.typed import Typed
from sluice.derived.written_values import day_of, moment_of, within_years
from sluice.errors import did_you_mean

# Others are searched for again and again from each place of the text (Spark makes a regular
# expression of them).
_LIKE = re.compile(r"[^%]*%?[^%]*|%[^%]*%", re.DOTALL)
_TRIED = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}


def cast_to(given: Typed, wanted: ColumnType, tried: bool) -> Typed:
    """`CAST(… AS …)`, or `try_cast`."""
    if isinstance(given.written, str) and wanted == DATE:
        return day_of(given.written)
    if isinstance(given.written, str) and wanted == TIMESTAMP:
        return moment_of(given.written)
    if given.type == BINARY and wanted == STRING and not tried:
        return Typed(f"CAST({given.sql} AS STRING)", UNCHECKED)
    if never_fails(given.type, wanted):
        return Typed(f"CAST({given.sql} AS {wanted})", wanted)
    if tried and given.type == STRING and wanted in (DATE, TIMESTAMP) and "`" not in given.sql:
        # Each column is quoted. Spark computes other texts in advance, and there knows 'now'.
        raise ValueError(
            f"found try_cast(a text without a column AS {wanted}); write DATE '2026-01-31' or"
            " TIMESTAMP '2026-01-31T06:00:00Z'"
        )
    if tried and (given.type, wanted) == (STRING, TIMESTAMP):
        return Typed(moment_in(given.sql), wanted)
    if tried and can_be_tried(given.type, wanted):
        return Typed(within_years(f"try_cast({given.sql} AS {wanted})", wanted), wanted)
    found = f"found {'try_cast' if tried else 'CAST'}({given.type} AS {wanted})"
    if can_be_tried(given.type, wanted):
        raise ValueError(
            f"{found}; write try_cast(… AS {wanted}): it gives NULL where the value does not fit"
        )
    raise ValueError(f"{found}; {_instead_of_cast(given.type, wanted)}")


def _instead_of_cast(kind: ColumnType, wanted: ColumnType) -> str:
    """What to write for a cast that is not allowed even when it is tried."""
    match kind, wanted:
        case _ if kind == VARIANT:
            return OF_VARIANT
        case _ if is_number(kind) and wanted == TIMESTAMP:
            return "write timestamp_seconds(…), timestamp_millis(…) or timestamp_micros(…)"
        case _ if kind in WHOLE[:3] and wanted == DATE:
            return "write date_from_unix_date(…)"
        case _ if is_number(kind) and wanted == DATE:
            return "write date_from_unix_date(try_cast(… AS INT))"
        case _ if kind == TIMESTAMP and is_number(wanted):
            return "write unix_seconds(…), unix_millis(…) or unix_micros(…)"
        case _ if kind == DATE and is_number(wanted):
            return "write unix_date(…)"
        case _ if (kind, wanted) == (BINARY, STRING):
            return "write decode(…, 'UTF-8'): it gives NULL for what is not UTF-8"
    return "it is not allowed"


def field_of(given: Typed, name: str) -> Typed:
    """A field of a struct."""
    found = struct_field(given.type, name)
    if found is None:
        names = [each.name for each in given.type.fields] if isinstance(given.type, Struct) else []
        allowed = f"{did_you_mean(name, names)}; allowed: {', '.join(names)}" if names else ""
        other = OF_VARIANT if given.type == VARIANT else "expected a STRUCT"
        raise ValueError(f"found field {name} of a {given.type}{allowed or f'; {other}'}")
    return Typed(f"{given.sql}.{quoted(found[0])}", found[1])


def computed(sign: str, one: Typed, other: Typed) -> Typed:
    """A sum, a difference or a product, which is a number for all numbers with a point."""
    kind = common_type(one.type, other.type)
    if kind not in (FLOAT, DOUBLE):
        what = f"found {one.type} {sign} {other.type}"
        if kind in WHOLE:
            raise ValueError(f"{what}; write {_TRIED[sign]}(…, …): the result may be too large")
        raise ValueError(f"{what}; expected FLOAT or DOUBLE: CAST or try_cast them")
    return Typed(f"({one.sql} {sign} {other.sql})", kind)


def divided(one: Typed, other: Typed) -> Typed:
    """A quotient of whole numbers without its fraction, by a number that is written."""
    number = other.written
    if one.type not in WHOLE or not isinstance(number, int) or number < 1:
        raise ValueError(
            f"found {one.type} DIV {other.sql}; expected a whole number DIV a written one from 1"
            " on, or write try_cast(try_divide(…, …) AS BIGINT)"
        )
    return Typed(f"({one.sql} DIV {other.sql})", BIGINT)


def compared(sign: str, one: Typed, other: Typed) -> Typed:
    """A comparison of two values of one type."""
    _require_one_type([one, other], f" {sign} ")
    return Typed(f"({one.sql} {sign} {other.sql})", BOOLEAN)


def between(value: Typed, low: Typed, high: Typed) -> Typed:
    """Whether a value is within bounds."""
    _require_one_type([value, low, high], ", ")
    return Typed(f"({value.sql} BETWEEN {low.sql} AND {high.sql})", BOOLEAN)


def listed(value: Typed, options: Sequence[Typed]) -> Typed:
    """Whether a value is in a list."""
    _require_one_type([value, *options], ", ")
    return Typed(f"({value.sql} IN ({', '.join(each.sql for each in options)}))", BOOLEAN)


def _require_one_type(values: Sequence[Typed], between_them: str) -> ColumnType:
    kind: ColumnType | None = VOID
    for each in values:
        kind = common_type(kind, each.type) if kind is not None else None
    if kind is None or kind == UNCHECKED or not is_simple(kind):
        found = between_them.join(str(each.type) for each in values)
        if VARIANT in (each.type for each in values):
            raise ValueError(f"found {found}; expected values of one simple type: {OF_VARIANT}")
        raise ValueError(
            f"found {found}; expected values of one simple type: CAST or try_cast one of them, and"
            " write DATE '2026-01-31' and TIMESTAMP '2026-01-31T06:00:00Z'"
        )
    return kind


def joined(one: Typed, other: Typed) -> Typed:
    """Two texts, concatenated."""
    if {one.type, other.type} != {STRING}:
        raise ValueError(f"found {one.type} || {other.type}; expected STRING: CAST them")
    return Typed(f"({one.sql} || {other.sql})", STRING)


def like(text: Typed, pattern: Typed) -> Typed:
    """Whether a text is like a written pattern."""
    if text.type != STRING or not isinstance(pattern.written, str):
        raise ValueError(
            f"found {text.type} LIKE {pattern.type}; expected a STRING, and a written pattern"
        )
    if not _LIKE.fullmatch(pattern.written):
        raise ValueError(
            f"found LIKE {pattern.sql}; expected one %, or one at each end: with more of them, a"
            " long text may take hours"
        )
    return Typed(f"({text.sql} LIKE {pattern.sql})", BOOLEAN)


def logical(sign: str, one: Typed, other: Typed) -> Typed:
    """Two conditions, joined."""
    if not {one.type, other.type} <= {BOOLEAN, VOID}:
        raise ValueError(f"found {one.type} {sign} {other.type}; expected conditions (BOOLEAN)")
    return Typed(f"({one.sql} {sign} {other.sql})", BOOLEAN)


def negated(condition: Typed) -> Typed:
    """A condition's opposite."""
    logical("AND", condition, condition)
    return Typed(f"(NOT {condition.sql})", BOOLEAN)


def cases(of: Typed | None, whens: Sequence[tuple[Typed, Typed]], default: Typed | None) -> Typed:
    """`CASE`, with a value to compare or with conditions."""
    conditions = [when for when, _ in whens]
    if of is not None:
        _require_one_type([of, *conditions], ", ")
    else:
        for each in conditions:
            logical("AND", each, each)
    values = [value for _, value in whens] + ([default] if default else [])
    kind: ColumnType | None = VOID
    for value in values:
        kind = common_type(kind, value.type) if kind is not None else None
    if kind in (None, UNCHECKED):
        found = ", ".join(str(each.type) for each in values)
        raise ValueError(f"found a CASE of {found}; expected values of one type: CAST one of them")
    written = " ".join(f"WHEN {when.sql} THEN {value.sql}" for when, value in whens)
    begin = f"CASE {of.sql} " if of else "CASE "
    end = f" ELSE {default.sql}" if default else ""
    assert kind is not None
    return Typed(f"({begin}{written}{end} END)", kind)
