"""Avro resolution: whether what was written with one schema can be read as another. Pure.

Some of it, for records of any writer; all of it, for a schema that takes another's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sluice.schemas.avro.schema import (
    MISSING,
    ArrayOf,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    MapOf,
    Member,
    Named,
    Node,
    RecordType,
    Scalar,
    Union,
)

_PROMOTED = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
_NUMBERS = {"int": 31, "long": 63}


def refusal(writer: AvroSchema, reader: AvroSchema) -> str:
    """Why no datum of the writer's can be read, `field: reason`; empty if some can."""
    return _Resolving(writer, reader, whole=False).reason(writer.root, reader.root, "")


def loss(writer: AvroSchema, reader: AvroSchema) -> str:
    """Why some datum of the writer's cannot be read, or not as it is; empty if all can.

    Fields that the reader lacks are not compared here: the columns show them.
    """
    return _Resolving(writer, reader, whole=True).reason(writer.root, reader.root, "")


class _Resolving:
    def __init__(self, writer: AvroSchema, reader: AvroSchema, whole: bool) -> None:
        self._writer, self._reader = writer, reader
        # Whether every datum counts: each type of a union, each symbol of an enum.
        self._whole = whole
        self._seen: set[tuple[str, str]] = set()

    def reason(self, written: Node, read: Node, place: str) -> str:
        theirs, ours = self._writer.named(written), self._reader.named(read)
        if isinstance(theirs, Union):
            reasons = [self.reason(each, read, place) for each in theirs.members]
            if self._whole:
                return next(filter(None, reasons), "")
            return "" if "" in reasons else next(iter(reasons), _told(place, ours, "no type"))
        if isinstance(ours, Union):
            found = any(not self.reason(written, each, place) for each in ours.members)
            return "" if found else _told(place, ours, theirs)
        return self._of_kind(theirs, ours, place)

    def _of_kind(self, theirs: Node | Named, ours: Node | Named, place: str) -> str:
        match theirs, ours:
            case Scalar(), Scalar():
                fits = theirs.name == ours.name or ours.name in _PROMOTED.get(theirs.name, ())
                fits = fits and _alike(theirs.logical, ours.logical)
            case Fixed(), Fixed():
                fits = theirs.size == ours.size and _named_alike(theirs, ours)
                fits = fits and _alike(theirs.logical, ours.logical)
            case Enum(), Enum():
                fits = _named_alike(theirs, ours)
                if fits and self._whole and (gone := [*_without(theirs.symbols, ours.symbols)]):
                    return _told(place, ours, f"the symbol {gone[0]}")
            case ArrayOf(items), ArrayOf(element):
                return self.reason(items, element, f"{place}[]")
            case MapOf(values), MapOf(value):
                return self.reason(values, value, f"{place}[]")
            case RecordType(), RecordType():
                return self._of_records(theirs, ours, place)
            case _:
                fits = False
        return "" if fits else _told(place, ours, theirs)

    def _of_records(self, theirs: RecordType, ours: RecordType, place: str) -> str:
        if (theirs.name, ours.name) in self._seen:
            return ""
        if not _named_alike(theirs, ours):
            return _told(place, ours, theirs)
        before = set(self._seen)
        self._seen.add((theirs.name, ours.name))
        for field in ours.fields:
            inner = f"{place}.{field.name}" if place else field.name
            written = counterpart(theirs, field)
            if written is not None:
                found = self.reason(written.type, field.type, inner)
            else:
                found = self._of_default(field, inner)
            if found:
                # What fitted only if this pair does is asked again elsewhere, such as in a union.
                self._seen = before
                return found
        return ""

    def _of_default(self, field: Member, place: str) -> str:
        if field.default is MISSING:
            return f"{place}: the writer's schema has no such field, and it has no default"
        if not fits(self._reader, field.type, field.default):
            return f"{place}: its default, which the records need, is not of its type"
        return ""


def _told(place: str, ours: Node | Named, theirs: Node | Named | str) -> str:
    text = f"expected {_kind(ours)}, found {_kind(theirs)}"
    return f"{place}: {text}" if place else text


def _kind(found: Node | Named | str) -> str:
    match found:
        case Fixed(name, _, size, logical):
            return f"fixed {name} of {size} bytes" + (f" ({logical})" if logical else "")
        case Enum(name):
            return f"enum {name}"
        case RecordType(name):
            return f"record {name}"
        case _:
            return str(found)


def _without(symbols: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    among = set(known)
    return (each for each in symbols if each not in among)


def _simple(found: Named) -> str:
    return found.name.rpartition(".")[2]


def _named_alike(theirs: Named, ours: Named) -> bool:
    """As Avro specifies: name spaces do not count, except in aliases, which are full names."""
    return _simple(theirs) == _simple(ours) or theirs.name in ours.aliases


def counterpart(theirs: RecordType, field: Member) -> Member | None:
    """The writer's field of the name, or of one of the aliases."""
    by_name = {each.name: each for each in theirs.fields}
    return next((by_name[each] for each in (field.name, *field.aliases) if each in by_name), None)


def _alike(theirs: Logical | None, ours: Logical | None) -> bool:
    """Whether a number means the same: one that says what it is may be read as one that does not.

    Decimals of another precision have the same numbers; their digits are counted when read.
    """
    if theirs is None or ours is None:
        return True
    return (theirs.name, theirs.scale) == (ours.name, ours.scale)


def fits(
    schema: AvroSchema, node: Node, default: Any, above: frozenset[tuple[str, str]] = frozenset()
) -> bool:
    """Whether a JSON value is a default of the type.

    `above` are the fields whose own defaults hold this one: a default must not hold itself.
    """
    match found := schema.named(node):
        case Scalar(name):
            return _scalar_fits(name, default)
        case Union(members):
            return any(fits(schema, each, default, above) for each in members)
        case ArrayOf(items):
            return isinstance(default, list) and all(
                fits(schema, items, each, above) for each in default
            )
        case MapOf(values):
            return isinstance(default, dict) and all(
                fits(schema, values, each, above) for each in default.values()
            )
        case Enum(symbols=symbols):
            return default in symbols
        case Fixed(size=size):
            return _scalar_fits("bytes", default) and len(default) == size
        case RecordType(name, fields=fields):
            return isinstance(default, dict) and all(
                fits(schema, each.type, default[each.name], above)
                if each.name in default
                else (name, each.name) not in above
                and fits(schema, each.type, each.default, above | {(name, each.name)})
                for each in fields
            )
    raise AssertionError(found)


def _scalar_fits(name: str, default: Any) -> bool:
    match name:
        case "null":
            return default is None
        case "boolean":
            return isinstance(default, bool)
        case "int" | "long":
            bound = 2 ** _NUMBERS[name]
            return type(default) is int and -bound <= default < bound
        case "float" | "double":
            return type(default) in (int, float)
        case "bytes":
            return isinstance(default, str) and all(ord(each) < 256 for each in default)
        case _:
            return isinstance(default, str)
