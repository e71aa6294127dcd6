"""Decoded: what a schema registry says of sampled records, as people and programs can read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sluice.cli.views.records import excerpt

if TYPE_CHECKING:
    from sluice.broker.port import Sample
    from sluice.operations.peek.answers import Answers
    from sluice.operations.peek.decoded import Decoded
    from sluice.operations.peek.peek import Peek
    from sluice.operations.peek.seen import Seen


def shown(seen: Seen | None, sample: Sample, given: bytes | None) -> str:
    """The beginning of a key or value: decoded, where it is one of the registry's."""
    found = _found(seen, sample)
    if found is None or found.kind is None or found.why:
        return excerpt(given)
    return excerpt(json.dumps(found.value, ensure_ascii=False).encode("utf-8", "replace"))


def decoded_document(answers: Answers | None, sample: Sample) -> dict[str, Any]:
    """The key and value as JSON-able values, with their schemas, or why not; null unframed."""
    if answers is None:
        return {}
    return {
        "key_decoded": _document(_found(answers.keys, sample)),
        "value_decoded": _document(_found(answers.values, sample)),
    }


def registry_document(found: Peek) -> dict[str, Any]:
    """The schemas that the records name, where a registry was asked."""
    if not found.registry:
        return {}
    schemas = _schemas(found.answers) if found.answers else []
    told = {"connection": found.registry, "refusal": found.refusal or None, "schemas": schemas}
    return {"registry": told}


def _schemas(answers: Answers) -> list[dict[str, Any]]:
    return [
        {
            "source": seen.source,
            "schema": schema,
            "kind": answers.schemas[schema].kind if schema in answers.schemas else None,
            "record": record or None,
            "subjects": list(answers.subjects.get(schema, ())),
            "samples": count,
        }
        for seen, schema, record, count in _listed(answers)
    ]


def schema_rows(answers: Answers) -> list[tuple[object, ...]]:
    """The same as the rows of a table."""
    columns = ("schema", "kind", "record", "source", "samples")
    return [
        (*(each[key] for key in columns), answers.told_subjects(each["schema"]) or None)
        for each in _schemas(answers)
    ]


def _listed(answers: Answers) -> Iterator[tuple[Seen, str, str, int]]:
    """Those of the values, then of the keys, the most frequent first."""
    for seen in (answers.values, answers.keys):
        if seen.hold or seen.source == "value":
            for (schema, record), count in seen.schemas().most_common():
                yield seen, schema, record, count


def _found(seen: Seen | None, sample: Sample) -> Decoded | None:
    """Numbers that only look like a serialiser's keys stay as they are."""
    if seen is None or not (seen.hold or seen.source == "value"):
        return None
    return seen.found.get(str(sample))


def _document(found: Decoded | None) -> dict[str, Any] | None:
    if found is None:
        return None
    read = {"problem": found.why} if found.why else {"value": found.value}
    return {"schema": found.schema, "record": found.record or None, **read}
