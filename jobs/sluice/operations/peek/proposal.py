"""A proposed spec: YAML text for a topic, as its sample records suggest. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

from sluice.offsets.quantities import format_count
from sluice.schemas.inference import Inferred, infer_columns, parse_object
from sluice.spec_file.pipeline_spec import OUR_DAGS

_LONGEST_NAME = 64
_SUFFIX = re.compile(r"__(quarantine|offsets)$")
_NAMES_TOLD = 10
_Values = Mapping[str, bytes | None]


def propose_spec(topic: str, connection: str, values: _Values) -> str:
    """The YAML text of a spec under which none of these records would be quarantined.

    `values` are those of the records, by where they are.
    """
    name = name_for(topic)
    lines = [
        *(f"# {each}" for each in _basis(values)),
        "version: 1",
        f"pipeline: {json.dumps(name) if name in _WORDS else name}",
        f"kafka: {connection}",
        # Topics such as 2024 or null would be no text to YAML.
        f"topics: [{json.dumps(topic)}]",
        f"table: {json.dumps(name) if name in _WORDS else name}",
        *_format(values),
        'schedule: null  # by hand; for example "*/10 * * * *"',
    ]
    return "\n".join([*lines, ""])


# What YAML 1.1 reads as something else than text.
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")


def name_for(topic: str) -> str:
    """A pipeline's and table's name that is like the topic's."""
    name = re.sub(r"[^a-z0-9]+", "_", topic.lower()).strip("_")[:_LONGEST_NAME].rstrip("_")
    name = name if re.match(r"[a-z]", name) else f"topic_{name}".rstrip("_")[:_LONGEST_NAME]
    return f"{name}_topic" if name in OUR_DAGS else _SUFFIX.sub(r"_\1", name)


def _basis(values: _Values) -> Iterator[str]:
    if not values:
        yield "No record was found: a guess without any sample."
        return
    records = format_count(len(values), "record")
    yield f"Proposed from {records}: look at the types before you use it."
    if framing := _framing(value for _, value in _with_value(values)):
        yield framing
    objects, problems = _parsed(values)
    if objects and problems:
        where, why = next(iter(problems.items()))
        yield (
            f"raw, as {len(problems):,} of {len(values):,} values are not JSON objects, such as"
            f" {where}: {why}."
        )
        return
    left_out = infer_columns(objects).left_out
    if left_out:
        named = ", ".join(map(json.dumps, left_out[:_NAMES_TOLD]))
        more = f" and {len(left_out) - _NAMES_TOLD} more" if len(left_out) > _NAMES_TOLD else ""
        yield f"Left out, because no column can have these names: {named}{more}."


def _format(values: _Values) -> Sequence[str]:
    inferred = _inferred(values)
    if inferred is None:
        return ["format: {type: raw}"]
    return ["format:", "  type: json", "  schema: |-", indent(inferred.schema_text, "    ")]


def _inferred(values: _Values) -> Inferred | None:
    """The columns, where every value is a JSON object, and a column can be made of one."""
    objects, problems = _parsed(values)
    found = None if problems else infer_columns(objects)
    return found if found and found.columns else None


def _parsed(values: _Values) -> tuple[list[Mapping[str, Any]], dict[str, str]]:
    """The objects, and why other values are not objects; records without a value are left out."""
    objects, problems = [], {}
    for where, value in _with_value(values):
        try:
            objects.append(parse_object(value))
        except ValueError as problem:
            problems[where] = _reason(problem)
    return objects, problems


def _with_value(values: _Values) -> Iterable[tuple[str, bytes]]:
    return ((where, value) for where, value in values.items() if value is not None)


def _reason(problem: ValueError) -> str:
    if isinstance(problem, UnicodeDecodeError):
        return "not strict UTF-8"
    # The words of a parser are about one text: it is on the screen.
    return "not one JSON object" if isinstance(problem, json.JSONDecodeError) else str(problem)


_FRAME = 5
_IDS_TOLD = 5


def _framing(values: Iterable[bytes]) -> str:
    """How many values begin with the byte 0 and an id of 4 bytes, and which ids; empty if none.

    A look without a JVM: what a frame is, records are read by, is in jobs/jvm/frames/Frame.scala.
    """
    found = list(values)
    ids = Counter(
        int.from_bytes(each[1:_FRAME], "big")
        for each in found
        if len(each) >= _FRAME and each[0] == 0
    )
    if not ids:
        return ""
    told = ", ".join(str(each) for each, _ in ids.most_common(_IDS_TOLD))
    more = f" and {len(ids) - _IDS_TOLD} more" if len(ids) > _IDS_TOLD else ""
    return (
        f"{ids.total():,} of {format_count(len(found), 'value')} may be framed: schema id {told}"
        f"{more}. If a schema registry has these, name it: docs/schema-registry.md."
    )
