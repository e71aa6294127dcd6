"""Casts: which types a value takes without fail, and which only with `try_cast`. Pure."""

from __future__ import annotations

from sluice.columns.columns import Array, ColumnType, Decimal, Map, Primitive, Struct
from sluice.columns.names import as_compared

STRING = Primitive("STRING")
BINARY = Primitive("BINARY")
BOOLEAN = Primitive("BOOLEAN")
INT = Primitive("INT")
BIGINT = Primitive("BIGINT")
FLOAT = Primitive("FLOAT")
DOUBLE = Primitive("DOUBLE")
DATE = Primitive("DATE")
TIMESTAMP = Primitive("TIMESTAMP")
# A JSON value of any shape, and how an expression gets a value of another type out of it.
VARIANT = Primitive("VARIANT")
OF_VARIANT = "write try_variant_get(…, '$.a', 'STRING') or with another type"
# Of NULL, which is of every type.
VOID = Primitive("VOID")
# Bytes cast to text, which may be no Unicode: `try_validate_utf8` and the like make it a STRING.
UNCHECKED = Primitive("STRING that may be no Unicode")

WHOLE = (Primitive("TINYINT"), Primitive("SMALLINT"), INT, BIGINT)
_WHOLE_DIGITS = {Primitive("TINYINT"): 3, Primitive("SMALLINT"): 5, INT: 10, BIGINT: 20}
_POINT = (FLOAT, DOUBLE)
_AS_TEXT = {*WHOLE, *_POINT, BOOLEAN, DATE, TIMESTAMP, STRING}
_OTHERS = {(TIMESTAMP, DATE), (DATE, TIMESTAMP), (STRING, BINARY), (FLOAT, DOUBLE)}
_ONLY_TRIED_FROM_TEXT = {*WHOLE, *_POINT, BOOLEAN, DATE, TIMESTAMP}


def is_number(kind: ColumnType) -> bool:
    """Whether values of the type are numbers."""
    return kind in WHOLE or kind in _POINT or isinstance(kind, Decimal)


def is_simple(kind: ColumnType) -> bool:
    """Whether it is a type without parts, whose values can be compared."""
    return isinstance(kind, Primitive | Decimal) and kind != VARIANT


def never_fails(kind: ColumnType, wanted: ColumnType) -> bool:
    """Whether every value of a type has its counterpart in another, to which Spark casts it."""
    if kind in (wanted, VOID):
        return True
    if wanted == STRING:
        return kind in _AS_TEXT or isinstance(kind, Decimal)
    if kind in WHOLE and wanted in WHOLE:
        return WHOLE.index(kind) <= WHOLE.index(wanted)
    if wanted == DOUBLE or (wanted == FLOAT and kind in WHOLE):
        return is_number(kind)
    if isinstance(wanted, Decimal):
        held = _as_decimal(kind)
        return held is not None and _holds(wanted, held)
    return (kind, wanted) in _OTHERS or (kind == BOOLEAN and wanted in WHOLE)


def can_be_tried(kind: ColumnType, wanted: ColumnType) -> bool:
    """Whether `try_cast` answers for every value, with NULL where there is no counterpart."""
    if never_fails(kind, wanted):
        return True
    if kind == STRING:
        return wanted in _ONLY_TRIED_FROM_TEXT or isinstance(wanted, Decimal)
    exact = wanted in WHOLE or isinstance(wanted, Decimal)
    return is_number(kind) and exact


def common_type(one: ColumnType, other: ColumnType) -> ColumnType | None:
    """The type to which Spark brings two values to compare them, if no value fails on the way."""
    if one == other or other == VOID:
        return one
    if one == VOID:
        return other
    if one in WHOLE and other in WHOLE:
        return max(one, other, key=WHOLE.index)
    if is_number(one) and is_number(other):
        if one in _POINT or other in _POINT:
            return DOUBLE
        return _wider(_as_decimal(one), _as_decimal(other))
    return None


def _wider(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    if one is None or other is None:
        return None
    scale = max(one.scale, other.scale)
    digits = max(one.precision - one.scale, other.precision - other.scale) + scale
    return Decimal(digits, scale) if digits <= 38 else None


def _as_decimal(kind: ColumnType) -> Decimal | None:
    if isinstance(kind, Decimal):
        return kind
    return Decimal(_WHOLE_DIGITS[kind], 0) if kind in WHOLE else None


def _holds(wanted: Decimal, held: Decimal) -> bool:
    digits = wanted.precision - wanted.scale >= held.precision - held.scale
    return digits and wanted.scale >= held.scale


def element_of(kind: ColumnType) -> ColumnType | None:
    """The type of an array's or a map's values; None of anything else."""
    match kind:
        case Array(element):
            return element
        case Map(value):
            return value
    return None


def struct_field(kind: ColumnType, name: str) -> tuple[str, ColumnType] | None:
    """A struct's field by its name in any case: as it is written, and its type."""
    if isinstance(kind, Struct):
        for field in kind.fields:
            if as_compared(field.name) == as_compared(name):
                return field.name, field.type
    return None
