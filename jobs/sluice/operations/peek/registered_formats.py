"""Registered formats: the keys of a spec that may read samples by a registry, best first. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.columns.envelopes import Envelope
from sluice.operations.peek.answers import Answers
from sluice.operations.peek.change_events import is_event
from sluice.operations.peek.proposal import format_lines, plain
from sluice.operations.peek.samples import Samples
from sluice.operations.peek.seen import RecordKind, Seen
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import KEY_OF, Source


@dataclass(frozen=True)
class Part:
    """Keys of a spec, as its lines, and the schemas that their formats would read as."""

    lines: Sequence[str]
    readers: Mapping[Source, RegisteredSchema] = field(default_factory=dict)


def value_parts(answers: Answers, compression: str) -> Iterator[Part]:
    """What may read the values; none where the registry's subjects lead no spec to the schema."""
    seen = answers.values
    first = answers.wanted(seen)[0]
    if choice := first.choice(answers.newest):
        wrap = {"compression": compression} if compression else {}
        for envelope in envelopes(seen, first.record, choice.reader):
            line = as_line(KEY_OF["value"], {**choice.keys, **envelope, **wrap})
            if len(seen.kinds) > 1:
                yield Part([line, only_line(seen, seen.kinds[0])], {"value": choice.reader})
            yield Part([line], {"value": choice.reader})
    if _opens(seen):
        yield from _declared(answers, compression)


def key_parts(answers: Answers) -> Iterator[Part]:
    """What may read the keys; last, that they stay bytes."""
    if answers.keys.hold:
        first = answers.wanted(answers.keys)[0]
        if choice := first.choice(answers.newest):
            for envelope in envelopes(answers.keys, first.record, choice.reader):
                line = as_line(KEY_OF["key"], {**choice.keys, **envelope})
                yield Part([line], {"key": choice.reader})
    yield Part([])


def envelopes(
    seen: Seen, record: str, reader: RegisteredSchema
) -> Iterator[Mapping[str, Envelope]]:
    """The key that says who wrote such records, the likeliest first; last, without it."""
    if seen.source == "value" and _are_events(seen.rows(record)):
        yield {"envelope": "debezium"}
    if kind_of(reader.kind).named_types(reader):
        yield {"envelope": "connect"}
    yield {}


def as_line(key: str, mapping: Mapping[str, Any]) -> str:
    """A key and its mapping, on one line of YAML."""
    listed = ", ".join(f"{name}: {plain(str(each))}" for name, each in mapping.items())
    return f"{key}: {{{listed}}}"


def only_line(seen: Seen, kind: RecordKind) -> str:
    """The key that lands this kind of record alone."""
    if _opens(seen):
        return f"only: {{schema_ids: [{', '.join(kind.schemas)}]}}"
    return f"only: {{record: {plain(kind.name)}}}"


def _opens(seen: Seen) -> bool:
    """Whether records hold the names of their fields, and schemas are not named by them."""
    return seen.kind is not None and kind_of(seen.kind).opens


def _are_events(rows: Sequence[Mapping[str, Any]]) -> bool:
    """As where they are read without a registry: if most are."""
    return bool(rows) and 2 * sum(map(is_event, rows)) >= len(rows)


def _declared(answers: Answers, compression: str) -> Iterator[Part]:
    """JSON whose columns the spec declares: it needs no subject."""
    found = {where: each for where, each in answers.values.found.items() if not each.why}
    samples = Samples({where: json.dumps(each.value).encode() for where, each in found.items()})
    if samples.inferred is not None:
        key, kind, *rest = format_lines(samples, compression)
        yield Part([key, kind, f"  registry: {plain(answers.registry)}", *rest])
