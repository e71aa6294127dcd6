"""Choices: the format that reads one kind of record, by the subjects that a registry has. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.spec_file.formats import FORMATS, RECORD, RegisteredFormat, Source, SubjectStrategy

_STRATEGIES: tuple[SubjectStrategy, ...] = ("topic", "record", "topic_record")


@dataclass(frozen=True)
class Choice:
    """The keys of a format, and the schema that its records would be read as."""

    keys: Mapping[str, Any]
    reader: RegisteredSchema


@dataclass(frozen=True)
class Wanted:
    """A kind of record of a topic that a format is looked for; `alone` if there is no other."""

    topic: str
    source: Source
    registry: str
    kind: Kind
    record: str
    alone: bool

    def subjects(self) -> tuple[str, ...]:
        """Those that a format can lead to."""
        return tuple(subject for _, subject in self._formats())

    def choice(self, newest: Mapping[str, RegisteredSchema]) -> Choice | None:
        """The first format whose subject's newest schema has the record."""
        for form, subject in self._formats():
            reader = newest.get(subject)
            if reader is None or reader.kind != self.kind:
                continue
            keys = form.model_dump(exclude_unset=True)
            names = _names(reader)
            if kind_of(self.kind).many_records and names and self.record != names[0]:
                keys["record"] = self.record
            if self.record in names or (not names and self._takes(reader)):
                return Choice(keys, reader)
        return None

    def _takes(self, reader: RegisteredSchema) -> bool:
        """Whether a schema whose records have no full name is the one."""
        if self.alone:
            return True
        from sluice.schemas.json.kind import title_of

        return (title_of(reader) or "") == self.record

    def _formats(self) -> Iterator[tuple[RegisteredFormat, str]]:
        for strategy in _STRATEGIES:
            keys = {"type": self.kind.lower(), "registry": self.registry}
            if strategy != "topic":
                if not re.fullmatch(RECORD, self.record):
                    continue
                keys |= {"subject_strategy": strategy, "record": self.record}
            form = FORMATS[keys["type"]].model_validate(keys)
            assert isinstance(form, RegisteredFormat)
            yield form, form.subject(self.topic, self.source)


def _names(schema: RegisteredSchema) -> list[str]:
    try:
        return [*kind_of(schema.kind).record_names(schema).values()]
    except ValueError:
        return []
