"""Seen: the sampled values, or keys, that name schemas of a registry, by their records. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sluice.offsets.quantities import format_count
from sluice.offsets.quarantined import error_pattern
from sluice.operations.peek.decoded import Decoded
from sluice.schemas.registered import Kind
from sluice.spec_file.formats import Source

_CAUSES_TOLD = 5


@dataclass(frozen=True)
class RecordKind:
    """One kind of record: its name, how many are of it, and the schemas that these name."""

    name: str
    count: int
    schemas: Sequence[str]


@dataclass(frozen=True)
class Seen:
    """Those that name a schema, by where their records are; `total` counts the others, too."""

    source: Source
    found: Mapping[str, Decoded]
    total: int

    @cached_property
    def kind(self) -> Kind | None:
        """The kind of schema that most of them have; None where no schema is known."""
        counts = Counter(each.kind for each in self.found.values() if each.kind is not None)
        return next((kind for kind, _ in counts.most_common(1)), None)

    @cached_property
    def hold(self) -> bool:
        """Whether they are a serialiser's: a number may look like a frame, and most do not."""
        if self.source == "key":
            good = sum(each.kind is not None and not each.why for each in self.found.values())
        else:
            good = sum(each.kind is not None for each in self.found.values())
        return good > 0 and 2 * good >= self.total

    @cached_property
    def kinds(self) -> Sequence[RecordKind]:
        """The kinds of records by that kind of schema, the most frequent first."""
        names: dict[str, list[str]] = {}
        for each in self.found.values():
            if each.kind is not None and each.kind == self.kind:
                names.setdefault(each.record, []).append(each.schema)
        made = [
            RecordKind(name, len(schemas), tuple(dict.fromkeys(schemas)))
            for name, schemas in names.items()
        ]
        return sorted(made, key=lambda each: -each.count)

    def schemas(self) -> Counter[tuple[str, str]]:
        """How many of them each schema and name of a record has."""
        return Counter((each.schema, each.record) for each in self.found.values())

    def rows(self, record: str) -> list[dict[str, Any]]:
        """The objects of one kind of record."""
        return [
            each.value
            for each in self.found.values()
            if each.record == record and isinstance(each.value, dict)
        ]

    def told_problems(self, strangers: Mapping[str, str]) -> Iterator[str]:
        """Why some would be quarantined, the most frequent cause first.

        `strangers` says it of those that name no schema.
        """
        causes: dict[str, list[str]] = {}
        for where, why in {**strangers, **self._problems()}.items():
            causes.setdefault(error_pattern(why), []).append(f"{where}: {why}")
        total = format_count(self.total, self.source)
        for told in sorted(causes.values(), key=len, reverse=True)[:_CAUSES_TOLD]:
            yield f"{len(told):,} of {total} would be quarantined: {told[0]}"

    def _problems(self) -> dict[str, str]:
        found = {where: each.why for where, each in self.found.items() if each.why}
        others = {
            where: f"expected a schema of kind {self.kind}, found schema {each.schema}, {each.kind}"
            for where, each in self.found.items()
            if each.kind not in (None, self.kind)
        }
        return found | others
