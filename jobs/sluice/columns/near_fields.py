"""Near fields: the declared field that a path which leads to none may have meant. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sluice.columns.columns import Column, ColumnType, Struct
from sluice.columns.declared import path_of
from sluice.errors import most_similar

_SHOWN = 5
_DIGITS = re.compile(r"\d+")


def near_path(fields: Sequence[Column], path: Sequence[str]) -> tuple[str, ...] | None:
    """The path of a declared field whose names are the same or similar; None without one."""
    found: ColumnType = Struct(tuple(fields))
    names: list[str] = []
    for name in path:
        types = {each.name: each.type for each in _fields_of(found)}
        near = _near(name, types)
        if near is None:
            return None
        names.append(near)
        found = types[near]
    return tuple(names)


def meant(fields: Sequence[Column], path: Sequence[str]) -> str:
    """Write ` (did you mean $.a?)`, or which fields are declared beside; empty without any."""
    near = near_path(fields, path)
    if near is not None:
        return f" (did you mean {path_of(near)}?)"
    above = near_path(fields, path[:-1])
    found: Sequence[Column] = fields
    for name in above or ():
        found = next((_fields_of(each.type) for each in found if each.name == name), ())
    if above is None or not found:
        return ""
    listed = ", ".join(path_of((*above, each.name)) for each in found[:_SHOWN])
    return f" (declared: {listed}{', …' if len(found) > _SHOWN else ''})"


def _fields_of(found: ColumnType) -> Sequence[Column]:
    return found.fields if isinstance(found, Struct) else ()


def _near(name: str, names: Collection[str]) -> str | None:
    if name in names:
        return name
    # Names that differ in digits only, such as line1 and line2, are of several fields.
    others = {each.lower(): each for each in names if _may_be_meant(each, name)}
    found = most_similar(name.lower(), others)
    return None if found is None else others[found]


def _may_be_meant(one: str, other: str) -> bool:
    """Whether two names differ in more than their digits, or in case alone."""
    if one.lower() == other.lower():
        return True
    return _DIGITS.sub("0", one.lower()) != _DIGITS.sub("0", other.lower())
