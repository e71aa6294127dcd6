"""Twins: fields whose names differ only in case, and which of them keeps its column. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence

from sluice.columns.columns import Array, Column, ColumnType, Map, Struct
from sluice.columns.declared import ELEMENT, Place
from sluice.columns.names import as_compared


def kept_twins(
    fields: Sequence[Column], before: Sequence[Column], above: Place = ()
) -> Iterator[Place]:
    """The places of fields with twins that had a column before, by their exact names."""
    known = {each.name: each.type for each in before}
    alike = Counter(as_compared(each.name) for each in fields)
    for each in fields:
        if each.name in known:
            place = (*above, each.name)
            if alike[as_compared(each.name)] > 1:
                yield place
            yield from _kept_within(each.type, known[each.name], place)


def _kept_within(now: ColumnType, before: ColumnType, place: Place) -> Iterator[Place]:
    match now, before:
        case Struct(fields), Struct(known):
            yield from kept_twins(fields, known, place)
        case (Array(inner), Array(known_inner)) | (Map(inner), Map(known_inner)):
            yield from _kept_within(inner, known_inner, (*place, ELEMENT))


def kept_first(
    fields: Sequence[Column], kept: Container[Place], above: Place = ()
) -> tuple[Column, ...]:
    """The fields, those of the kept places before the others: the first of twins has the column."""
    ordered = sorted(fields, key=lambda each: (*above, each.name) not in kept)
    return tuple(
        Column(each.name, _kept_first_within(each.type, kept, (*above, each.name)))
        for each in ordered
    )


def _kept_first_within(found: ColumnType, kept: Container[Place], place: Place) -> ColumnType:
    match found:
        case Struct(fields):
            return Struct(kept_first(fields, kept, place))
        case Array(inner):
            return Array(_kept_first_within(inner, kept, (*place, ELEMENT)))
        case Map(inner):
            return Map(_kept_first_within(inner, kept, (*place, ELEMENT)))
    return found
