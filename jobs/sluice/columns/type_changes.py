"""Type changes: declared columns that a table stores as another type. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sluice.columns.columns import Array, Column, ColumnType, Decimal, Map, Primitive, Struct
from sluice.columns.names import as_compared, written

# Parquet stores these alike, and Delta merges them.
_SMALL = {Primitive("TINYINT"), Primitive("SMALLINT"), Primitive("INT")}
# What Delta widens to, in a table that allows it, when a write has the wider type (measured).
_WIDER = {**dict.fromkeys(map(str, _SMALL), ("BIGINT", "DOUBLE")), "FLOAT": ("DOUBLE",)}
_DIGITS = {**dict.fromkeys(map(str, _SMALL), 10), "BIGINT": 20}


@dataclass(frozen=True)
class TypeChange:
    """A column, or a part of one such as `trip.day`, that is declared as another type."""

    name: str
    stored: ColumnType
    declared: ColumnType

    @property
    def widens(self) -> bool:
        """Whether a write makes it, in a table with the property `delta.enableTypeWidening`."""
        match self.stored, self.declared:
            case Primitive(before), Primitive(now):
                return now in _WIDER.get(before, ())
            case Primitive(before), Decimal(precision, scale) if before in _DIGITS:
                return precision - scale >= _DIGITS[before]
            case Decimal(precision, scale), Decimal(digits, places):
                return places >= scale and digits - places >= precision - scale
        return False


def type_changes(
    stored: Iterable[Column], declared: Iterable[Column], below: str = ""
) -> Iterator[TypeChange]:
    """What an append of the declared columns would be refused for, in the declared order.

    A column that only one of the two has is not a change: Delta adds it, or leaves it null. Delta
    ignores case in column names.
    """
    known = {as_compared(each.name): each for each in stored}
    for column in declared:
        before = known.get(as_compared(column.name))
        if before is not None:
            yield from _changes(before.type, column.type, f"{below}{column.name}")


def _changes(stored: ColumnType, declared: ColumnType, name: str) -> Iterator[TypeChange]:
    match stored, declared:
        case Struct(before), Struct(now):
            yield from type_changes(before, now, f"{name}.")
        case Array(before), Array(now):
            yield from _changes(before, now, f"{name}[]")
        case Map(before), Map(now):
            yield from _changes(before, now, f"{name}{{}}")
        case _ if stored != declared and not {stored, declared} <= _SMALL:
            yield TypeChange(name, stored, declared)


def new_columns(
    stored: Iterable[Column], declared: Iterable[Column], exact: bool = False
) -> list[str]:
    """What only the declared columns have, each with its type: `discount DOUBLE`, `trip.day DATE`.

    Names are as SQL has them, quoted where they need to be. Delta ignores case in column names;
    what reads records may not: `exact`.
    """
    return [f"{name} {kind}" for name, kind in _only_declared(stored, declared, "", exact)]


def _only_declared(
    stored: Iterable[Column], declared: Iterable[Column], below: str, exact: bool
) -> Iterator[tuple[str, ColumnType]]:
    known = {each.name if exact else as_compared(each.name): each for each in stored}
    for column in declared:
        before = known.get(column.name if exact else as_compared(column.name))
        name = f"{below}{written(column.name)}"
        if before is None:
            yield name, column.type
        else:
            yield from _only_declared_part(before.type, column.type, name, exact)


def _only_declared_part(
    stored: ColumnType, declared: ColumnType, name: str, exact: bool
) -> Iterator[tuple[str, ColumnType]]:
    match stored, declared:
        case Struct(before), Struct(now):
            yield from _only_declared(before, now, f"{name}.", exact)
        case Array(before), Array(now):
            yield from _only_declared_part(before, now, f"{name}[]", exact)
        case Map(before), Map(now):
            yield from _only_declared_part(before, now, f"{name}{{}}", exact)
