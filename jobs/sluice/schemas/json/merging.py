"""Merging: what several parts of a JSON schema say of one value, as one type. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sluice.columns.columns import Array, Column, ColumnType, Map, Primitive, Struct

OPEN: ColumnType = Primitive("any value")
"""The schema leaves the value open."""
OBJECT = Primitive("any object")
TEXT = Primitive("JSON text")
"""A value of several types: whatever other parts say, only JSON text holds all of them."""
STRING, BIGINT, DOUBLE = (Primitive(each) for each in ("STRING", "BIGINT", "DOUBLE"))
_IN_TEXTS = tuple(Primitive(each) for each in ("TIMESTAMP", "DATE", "BINARY"))

Merge = Callable[[ColumnType, ColumnType], ColumnType]


def in_both(one: ColumnType, other: ColumnType) -> ColumnType:
    """The type of a value of which both hold, in either order."""
    found = _alike(one, other, in_both)
    if found is not None:
        return found
    for narrow, wide in ((one, other), (other, one)):
        if (narrow, wide) == (BIGINT, DOUBLE) or (wide == STRING and narrow in _IN_TEXTS):
            return narrow
        if isinstance(narrow, Struct) and isinstance(wide, Map):
            named = (Column(each.name, in_both(each.type, wide.value)) for each in narrow.fields)
            return Struct(tuple(named))
    return TEXT


def in_either(one: ColumnType, other: ColumnType) -> ColumnType:
    """The type of a value of which one of them holds; a part that says nothing counts for none."""
    found = _alike(one, other, in_either)
    if found is not None:
        return found
    if {one, other} == {BIGINT, DOUBLE}:
        return DOUBLE
    both_in_texts = {one, other} <= {STRING, *_IN_TEXTS}
    return STRING if both_in_texts else TEXT


def filled(whole: ColumnType, sometimes: ColumnType) -> ColumnType:
    """A type with what holds only for some values: it adds fields, and narrows nothing."""
    found = _alike(whole, sometimes, filled)
    if found is not None:
        return found
    composed = (Struct, Array, Map)
    apart = isinstance(whole, composed) or isinstance(sometimes, composed)
    return TEXT if apart and not isinstance(sometimes, Map) else whole


@dataclass(frozen=True)
class Said:
    """What a part says of values: of each of them, and of some, such as in `then` or `oneOf`."""

    always: ColumnType = OPEN
    sometimes: ColumnType = OPEN

    @property
    def whole(self) -> ColumnType:
        """The type of the values, where no other part says anything of them."""
        return filled(self.always, self.sometimes)

    def together(self, other: Said) -> Said:
        """What two parts that both hold say: what each says of some values narrows nothing."""
        return Said(in_both(self.always, other.always), self.or_some(other.sometimes).sometimes)

    def or_some(self, more: ColumnType) -> Said:
        """The same, with what else holds for some values."""
        for known, map_ in ((self.sometimes, more), (more, self.sometimes)):
            if isinstance(known, Struct) and isinstance(map_, Map):
                return Said(self.always, known)
        return Said(self.always, in_either(self.sometimes, more))

    def within(self, kind: type[Array] | type[Map]) -> Said:
        """The same of an array, or a map, of such values."""
        some = OPEN if self.sometimes == OPEN else kind(self.sometimes)
        return Said(kind(self.always), some)


def settled(found: ColumnType) -> ColumnType:
    """The type as a column has it: what is open, or a text of JSON, is STRING."""
    match found:
        case Primitive():
            return STRING if found in (OPEN, OBJECT, TEXT) else found
        case Array(element):
            return Array(settled(element))
        case Map(value):
            return Map(settled(value))
        case Struct(fields):
            return Struct(tuple(Column(each.name, settled(each.type)) for each in fields))
    return found


def _alike(one: ColumnType, other: ColumnType, merge: Merge) -> ColumnType | None:
    """What every way to merge has in common; None where the types differ."""
    if one == other or other == OPEN:
        return one
    if one == OPEN:
        return other
    if TEXT in (one, other):
        return TEXT
    match one, other:
        case Struct(), Struct():
            return _with_fields_of(one, other, merge)
        case Array(element), Array(theirs):
            return Array(merge(element, theirs))
        case Map(value), Map(theirs):
            return Map(merge(value, theirs))
    for known, whole in ((one, other), (other, one)):
        if whole == OBJECT and isinstance(known, Struct | Map):
            return known
    return None


def _with_fields_of(one: Struct, other: Struct, merge: Merge) -> Struct:
    fields = {each.name: each.type for each in one.fields}
    for each in other.fields:
        fields[each.name] = merge(fields.get(each.name, OPEN), each.type)
    return Struct(tuple(Column(name, kind) for name, kind in fields.items()))
