"""Answers: what a schema registry says of the keys and values of samples. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluice.operations.peek.choices import Wanted
from sluice.operations.peek.seen import Seen
from sluice.schemas.registered import RegisteredSchema

_MOST_KINDS = 5
# Topics share the schema of a plain number or text.
_SUBJECTS_TOLD = 3


@dataclass(frozen=True)
class Answers:
    """Schemas and their subjects, by their numbers or GUIDs, and the newest schemas of subjects."""

    registry: str
    topic: str
    schemas: Mapping[str, RegisteredSchema]
    subjects: Mapping[str, Sequence[str]]
    newest: Mapping[str, RegisteredSchema]
    values: Seen
    keys: Seen

    def told_subjects(self, schema: str) -> str:
        """The subjects that have a schema, those of the topic first; empty where none is known."""
        found = self.subjects.get(schema, ())
        first = sorted(found, key=lambda each: (not each.startswith(f"{self.topic}-"), each))
        more = f" and {len(found) - _SUBJECTS_TOLD} more" if len(found) > _SUBJECTS_TOLD else ""
        return ", ".join(first[:_SUBJECTS_TOLD]) + more

    def wanted(self, seen: Seen) -> list[Wanted]:
        """The kinds of records, the most frequent first."""
        return wanted(self.registry, self.topic, seen)


def wanted(registry: str, topic: str, seen: Seen) -> list[Wanted]:
    """The kinds of records that formats are looked for, the most frequent first."""
    if seen.kind is None:
        return []
    alone = len(seen.kinds) == 1
    return [
        Wanted(topic, seen.source, registry, seen.kind, each.name, alone)
        for each in seen.kinds[:_MOST_KINDS]
    ]
