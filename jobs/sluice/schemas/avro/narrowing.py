"""Avro narrowing: what a reader schema reads that another one in its place would not. Pure.

It does not compare what was written with other, older schemas: defaults and aliases serve those. It
does not compare the places of a union's types either, which are columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from sluice.schemas.avro.columns import union_of
from sluice.schemas.avro.resolution import counterpart, refusal
from sluice.schemas.avro.schema import (
    MISSING,
    ArrayOf,
    AvroSchema,
    Enum,
    Fixed,
    MapOf,
    Member,
    Node,
    RecordType,
    Union,
)


def narrowing(before: AvroSchema, now: AvroSchema) -> str:
    """The first thing that is gone, `field: what`; empty if there is none.

    What was written with `before` is read as `now` whole (`resolution.loss`).
    """
    return next(_Comparing(before, now).gone(before.root, now.root, ""), "")


class _Comparing:
    def __init__(self, before: AvroSchema, now: AvroSchema) -> None:
        self._before, self._now = before, now
        # A pair of records differs in the same way at each further place.
        self._seen: set[tuple[str, str]] = set()

    def gone(self, old: Node, new: Node, place: str) -> Iterator[str]:
        before, now = self._before.named(old), self._now.named(new)
        told = f"{place}: " if place else ""
        match before, now:
            case RecordType() | Enum() | Fixed(), RecordType() | Enum() | Fixed():
                yield from (f"{told}the alias {x} is gone" for x in _lost(before, now))
        match before, now:
            case RecordType(), RecordType() if (before.name, now.name) not in self._seen:
                self._seen.add((before.name, now.name))
                for field in before.fields:
                    yield from self._of_field(field, now, f"{place}.{field.name}".lstrip("."))
            case Enum(default=str()), Enum(default=None):
                yield f"{told}the default of enum {before.name} is gone"
            case (ArrayOf(a), ArrayOf(b)) | (MapOf(a), MapOf(b)):
                yield from self.gone(a, b, f"{place}[]")
            case Union(), _:
                yield from self._of_union(before, new, place)
            case _, Union(members):
                for first in union_of(members)[:1]:
                    yield from self.gone(old, first, place)

    def _of_field(self, field: Member, now: RecordType, place: str) -> Iterator[str]:
        found = counterpart(now, Member(field.name, field.type))
        if found is None:
            return
        if field.default is not MISSING and found.default is MISSING:
            yield f"{place}: its default is gone"
        yield from (f"{place}: the alias {each} is gone" for each in _lost(field, found))
        yield from self.gone(field.type, found.type, place)

    def _of_union(self, before: Union, new: Node, place: str) -> Iterator[str]:
        old = union_of(before.members)
        now = self._now.named(new)
        others = union_of(now.members) if isinstance(now, Union) else (new,)
        for number, (was, is_now) in enumerate(zip(old, others, strict=False)):
            one, other = (
                AvroSchema(node, schema.names)
                for node, schema in ((was, self._before), (is_now, self._now))
            )
            if why := refusal(one, other):
                yield f"{place}: member{number} would be another type: {why}"
            yield from self.gone(was, is_now, place)


def _lost(
    old: Member | RecordType | Enum | Fixed, new: Member | RecordType | Enum | Fixed
) -> list[str]:
    """The aliases that only the former one has, and is not called by."""
    return [each for each in old.aliases if each not in (*new.aliases, new.name)]
