"""Merging: what several parts of a JSON schema say of one value, as one type. Pure."""

from __future__ import annotations

from collections.abc import Callable

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
            return narrow
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
