"""Asking: the questions to a schema registry about sampled keys and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sluice.broker.port import Sample
from sluice.errors import RegistryUnavailable, SettingsError, UnknownSchema
from sluice.operations.peek.answers import Answers, wanted
from sluice.operations.peek.decoded import Decoded, Decoder
from sluice.operations.peek.framed import Framed, framed
from sluice.operations.peek.seen import Seen
from sluice.registry.client import NotGiven, Registry
from sluice.schemas.registered import RegisteredSchema

# Bytes that only look like a frame may name any number.
_MOST_SCHEMAS = 50
_LARGEST_ID = 2**31 - 1


def ask(
    registry: Registry, topic: str, samples: Sequence[Sample], values: Mapping[str, bytes | None]
) -> Answers:
    """Ask for the schemas; `values` are those of the samples, without their compression.

    Raises RegistryUnavailable, or SettingsError where it refuses.
    """
    keys = {str(each): framed(each.key, each.headers, "key") for each in samples}
    found = {str(each): framed(values[str(each)], each.headers, "value") for each in samples}
    answers = _schemas(registry, [each for each in (*found.values(), *keys.values()) if each])
    schemas = {key: each for key, each in answers.items() if isinstance(each, RegisteredSchema)}
    missing = {key: each.why for key, each in answers.items() if isinstance(each, NotGiven)}
    decoder = Decoder(schemas, missing)
    of_values = Seen("value", _decoded(decoder, found), _count(values.values()))
    of_keys = Seen("key", _decoded(decoder, keys), _count(each.key for each in samples))
    newest: dict[str, RegisteredSchema] = {}
    for seen in (of_values, of_keys):
        for each in wanted(registry.connection, topic, seen) if seen.hold else ():
            newest |= _newest(registry, each.subjects())
    subjects = _subjects(registry, [*schemas])
    return Answers(registry.connection, topic, schemas, subjects, newest, of_values, of_keys)


def _decoded(decoder: Decoder, found: Mapping[str, Framed | None]) -> dict[str, Decoded]:
    return {where: decoder.decoded(each) for where, each in found.items() if each}


def _count(found: Iterable[bytes | None]) -> int:
    return sum(each is not None for each in found)


def _schemas(
    registry: Registry, found: Sequence[Framed]
) -> Mapping[str, RegisteredSchema | NotGiven]:
    counts = Counter(each.schema for each in found)
    keys = [key for key, _ in counts.most_common() if "-" in key or int(key) <= _LARGEST_ID]
    asked, rest = keys[:_MOST_SCHEMAS], keys[_MOST_SCHEMAS:]
    answers = registry.several(asked) if asked else {}
    why = f"not asked for: it is not among the {_MOST_SCHEMAS} schemas that most values name"
    return {**answers, **{each: NotGiven(f"schema {each}: {why}", False) for each in rest}}


def _subjects(registry: Registry, schemas: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Nothing but what is shown depends on them: a registry may keep them to itself."""
    try:
        return registry.subjects(schemas)
    except (RegistryUnavailable, SettingsError):
        return {}


def _newest(registry: Registry, subjects: Iterable[str]) -> Mapping[str, RegisteredSchema]:
    found = {}
    for each in subjects:
        try:
            found[each] = registry.latest(each)
        except UnknownSchema:
            continue
    return found
