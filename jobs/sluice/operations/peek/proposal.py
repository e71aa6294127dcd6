"""A proposed spec: YAML text for a topic, as its sample records suggest. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from textwrap import indent

from sluice.columns.declared import path_of
from sluice.moves import Move
from sluice.offsets.quantities import format_count
from sluice.operations.peek.change_events import deletes_among
from sluice.operations.peek.envelopes import UNWRAPPED, envelope_of
from sluice.operations.peek.packing import told_frame
from sluice.operations.peek.remarks import remarks_on
from sluice.operations.peek.samples import Samples
from sluice.operations.peek.whole_values import WholeValues
from sluice.schemas.inference import Inferred
from sluice.spec_file.pipeline_names import OUR_DAGS

_LONGEST_NAME = 64
_SUFFIX = re.compile(r"__(quarantine|offsets)$")
_NAMES_TOLD = 10
_CAUSES_TOLD = 5
_REMARKS_TOLD = 20
_OTHER_SHAPE = re.compile("not one JSON object: found a JSON")
_ANY_SHAPE = "docs/formats.md#values-of-any-shape"


def propose_spec(
    topic: str, connection: str, samples: Samples, compression: str = "", known_registry: str = ""
) -> str:
    """The YAML text of a spec; its comments name those of the records that it would quarantine.

    `compression` was taken off the samples. `known_registry` is the connection of a registry that
    could be asked.
    """
    told = told_samples(samples, topic, known_registry)
    return spec_text(topic, connection, told, format_lines(samples, compression))


def spec_text(topic: str, connection: str, told: Iterable[str], keys: Iterable[str]) -> str:
    """The YAML text of a topic's spec with these comments, and keys about its records."""
    name = name_for(topic)
    lines = [
        *(f"# {each}" for each in told),
        "version: 1",
        f"pipeline: {plain(name)}",
        f"kafka: {connection}",
        # Topics such as 2024 or null would be no text to YAML.
        f"topics: [{json.dumps(topic)}]",
        f"table: {plain(name)}",
        *keys,
        'schedule: null  # by hand; for example "*/10 * * * *"',
    ]
    return "\n".join([*lines, ""])


# What YAML 1.1 reads as something else than text.
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")


def plain(name: str) -> str:
    """A name as YAML reads it."""
    return json.dumps(name) if name in _WORDS else name


def name_for(topic: str) -> str:
    """A pipeline's and table's name that is like the topic's."""
    name = re.sub(r"[^a-z0-9]+", "_", topic.lower()).strip("_")[:_LONGEST_NAME].rstrip("_")
    name = name if re.match(r"[a-z]", name) else f"topic_{name}".rstrip("_")[:_LONGEST_NAME]
    return f"{name}_topic" if name in OUR_DAGS else _SUFFIX.sub(r"_\1", name)


def told_samples(samples: Samples, topic: str, known_registry: str = "") -> Iterator[str]:
    """What the values are, and which of them would be quarantined."""
    if not samples.by_place:
        yield "No record was found: a guess without any sample."
        return
    records = format_count(len(samples.by_place), "record")
    yield f"Proposed from {records}: look at the types before you use it."
    framing = _framing(samples, topic, known_registry)
    if framing := framing or told_frame(samples.by_place):
        yield framing
    yield from _problems(samples)
    if samples.whole:
        yield from _wholes(samples.whole)
    if samples.inferred:
        if samples.at:
            yield "JSON is within JSON here, as text: `at` in format says where the record is."
        yield from _left_out(samples.inferred.left_out)
        if envelope := envelope_of(samples.objects):
            yield str(envelope)
        if samples.enveloped and samples.enveloped.remark:
            yield samples.enveloped.remark
        if envelope is UNWRAPPED:
            yield deletes_among(samples.objects, samples.tombstones)
        yield from _remarks(samples.inferred, samples)


def _problems(samples: Samples) -> Iterator[str]:
    total = format_count(len(samples.values), "value")
    causes = islice(samples.told_problems(), _CAUSES_TOLD)
    if samples.columns:
        for count, first in causes:
            yield f"{count:,} of {total} would be quarantined: {first}"
        alone = not samples.whole and not samples.enveloped
        if alone and any(map(_OTHER_SHAPE.search, samples.problems.values())):
            yield f"`value VARIANT` in place of the fields takes JSON of each shape: {_ANY_SHAPE}"
        return
    if samples.problems:
        yield f"{len(samples.problems):,} of {total} are not JSON objects, so it is raw:"
        yield from (f"  {count:,}, such as {first}" for count, first in causes)
    elif samples.objects:
        yield "Not one field of the JSON objects can be a column, so it is raw."


def _wholes(whole: WholeValues) -> Iterator[str]:
    """What the one column means for readers, and the other way."""
    if not whole.is_variant:
        yield (
            "Each value is an array of objects, and becomes one row. A view has a row for each"
            " object: docs/tables.md#records-that-hold-several"
        )
        return
    yield (
        "The values are JSON of several shapes, or without a field that can be a column, so each"
        f" becomes a VARIANT, and `derived` takes fields out of it: {_ANY_SHAPE}"
    )
    yield (
        "Not each reader knows a VARIANT: docs/tables.md#variant-columns. The other way, type: raw,"
        " keeps the bytes of each value."
    )


def _left_out(names: Mapping[str, str]) -> Iterator[str]:
    for name, why in islice(names.items(), _NAMES_TOLD):
        ways = "rescue: true keeps it, in _rescued; `columns` takes it."
        yield f"Left out: {json.dumps(name)}: {why}. {ways}"
    if len(names) > _NAMES_TOLD:
        yield f"Left out likewise: {len(names) - _NAMES_TOLD} more."


def _remarks(inferred: Inferred, samples: Samples) -> Iterator[str]:
    known = samples.enveloped.units if samples.enveloped else {}
    columns = [each for each in inferred.columns if each.name not in known]
    found = list(remarks_on(columns, samples.rows))
    yield from found[:_REMARKS_TOLD]
    if len(found) > _REMARKS_TOLD:
        yield f"Remarks on {len(found) - _REMARKS_TOLD} more columns are left out."


def format_lines(samples: Samples, compression: str) -> Sequence[str]:
    """The keys that read the values."""
    found = samples.columns
    if found is None:
        within = f", compression: {compression}" if compression else ""
        return [f"format: {{type: raw{within}}}"]
    packed = [f"  compression: {compression}"] if compression else []
    rescue = ["rescue: true"] if found.left_out else []
    known = samples.enveloped
    envelope = [f"  envelope: {known.envelope}"] if known else []
    units = known.units if known else {}
    taken = [f"  {json.dumps(e)}: {{from: {_path(e)}, unit: {unit}}}" for e, unit in units.items()]
    schema = ["  schema: |-", indent(found.schema_text, "    ")]
    columns = ["columns:", *taken] if taken else []
    place = [f"  at: {json.dumps(samples.at)}"] if samples.at else []
    return ["format:", "  type: json", *place, *envelope, *packed, *schema, *columns, *rescue]


def _path(name: str) -> str:
    return json.dumps(path_of((name,)))


_IDS_TOLD = 5


def _framing(samples: Samples, topic: str, known_registry: str) -> str:
    """How many values name a schema of a registry, and which ones; empty if none does."""
    ids = Counter(each.schema for each in samples.frames)
    if not ids:
        return ""
    told = ", ".join(each for each, _ in ids.most_common(_IDS_TOLD))
    more = f" and {len(ids) - _IDS_TOLD} more" if len(ids) > _IDS_TOLD else ""
    framed = f"{ids.total():,} of {format_count(len(samples.values), 'value')} may be framed"
    decode = Move("peek", (topic, "--registry", known_registry or "CONNECTION"))
    if known_registry:
        return f"{framed}: schema id {told}{more}. `{decode}` decodes them, and proposes a format."
    return (
        f"{framed}: schema id {told}{more}. If a schema registry has these,"
        f" `{decode}` decodes them; else name the connection to it, such as"
        " format: {type: avro, registry: schema_registry_default} (or protobuf, json):"
        " docs/schema-registry.md. Without one, frame: confluent beside schema_file."
    )
