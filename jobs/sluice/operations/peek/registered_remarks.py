"""Registered remarks: what a registry's schemas say of samples, beside the proposed keys. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sluice.offsets.quantities import format_count
from sluice.operations.peek.answers import Answers
from sluice.operations.peek.choices import Wanted
from sluice.operations.peek.envelopes import envelope_of
from sluice.operations.peek.registered_formats import as_line, envelopes, only_line
from sluice.operations.peek.remarks import remarks_on
from sluice.operations.peek.samples import Samples
from sluice.operations.peek.seen import Seen
from sluice.registry.reader_choice import as_read
from sluice.schemas.kind import kind_of
from sluice.spec_file.formats import KEY_OF, RegisteredFormat
from sluice.spec_file.pipeline_spec import PipelineSpec

_TOLD = 20
_SCHEMAS_TOLD = 10
_HEX = 5
_NAMES_TOLD = 5


def told_registered(answers: Answers, samples: Samples, spec: PipelineSpec) -> Iterator[str]:
    """The schemas, the kinds of records, and what the spec's columns do not show of the records."""
    for seen in (answers.values, answers.keys):
        if not seen.hold:
            yield from _not_given(answers, seen)
            continue
        yield from _schemas(answers, seen)
        yield from _kinds(answers, seen)
        form = spec.formats.registered.get(seen.source)
        if form is None:
            continue
        strangers = _strangers(seen, samples) if seen.source == "value" else {}
        yield from seen.told_problems(strangers)
        yield from _losses(answers, seen, form)
        yield from _named_types(answers, seen, form)
    yield from spec.formats.told()
    form = spec.formats.registered.get("value")
    if form is not None and form.envelope != "debezium" and answers.values.hold:
        yield from _remarks(answers.values, form)


def _not_given(answers: Answers, seen: Seen) -> Iterator[str]:
    """Why the schemas are unknown that values name which no registered format reads."""
    unknown = {where: each for where, each in seen.found.items() if each.kind is None}
    if unknown and seen.source == "value":
        total = format_count(seen.total, seen.source)
        first = {each.schema: each for each in unknown.values()}
        for each in islice(first.values(), _SCHEMAS_TOLD):
            found = [where for where, other in unknown.items() if other.schema == each.schema]
            yield f"The schema of {len(found):,} of {total} is unknown: {found[0]}: {each.why}"


def _schemas(answers: Answers, seen: Seen) -> Iterator[str]:
    total = format_count(seen.total, seen.source)
    counts = seen.schemas()
    for (schema, record), count in counts.most_common(_SCHEMAS_TOLD):
        if schema in answers.schemas:
            subjects = answers.told_subjects(schema)
            of = f", subject {subjects}" if subjects else ""
            kind = answers.schemas[schema].kind
            name = f" {record}" if record else ""
            yield f"Schema {schema} is named by {count:,} of {total}: {kind}{name}{of}."
    if len(counts) > _SCHEMAS_TOLD:
        yield f"{len(counts) - _SCHEMAS_TOLD} more schemas are named."


def _kinds(answers: Answers, seen: Seen) -> Iterator[str]:
    """What lands each kind of record; of the keys, only where nothing does."""
    first, *others = answers.wanted(seen)
    if first.choice(answers.newest) is None:
        yield _no_way(first, seen)
    if len(seen.kinds) < 2 or seen.source == "key":
        return
    names = ", ".join(f"{each.name or 'without a name'} ({each.count:,})" for each in seen.kinds)
    yield f"{len(seen.kinds)} kinds of records are among them, and a pipeline lands one: {names}."
    for kind, wanted in zip(seen.kinds[1:], others, strict=False):
        if choice := wanted.choice(answers.newest):
            envelope = next(envelopes(seen, kind.name, choice.reader))
            keys = as_line(KEY_OF[seen.source], {**choice.keys, **envelope})
            yield f"Another pipeline lands {kind.name}: {keys}, {only_line(seen, kind)}"
        else:
            yield _no_way(wanted, seen)


def _no_way(wanted: Wanted, seen: Seen) -> str:
    name = f" {wanted.record}" if wanted.record else ""
    return (
        f"No subject leads to the schema of the {seen.source}s{name}: expected one of"
        f" {', '.join(wanted.subjects())}, found none of kind {wanted.kind} with that record."
        " Register it there; or write its text into a file beside the spec, and name that as"
        " schema_file, beside registry: docs/schema-registry.md"
    )


def _strangers(seen: Seen, samples: Samples) -> dict[str, str]:
    """Why values that name no schema would be quarantined."""
    return {
        where: samples.broken.get(where)
        or "no schema id: expected the byte 0 and an id, or a header, found"
        f" {f'0x{each[:_HEX].hex()}' if each else 'no bytes'}"
        for where, each in samples.values.items()
        if where not in seen.found
    }


def _losses(answers: Answers, seen: Seen, form: RegisteredFormat) -> Iterator[str]:
    """Which schemas' records the newest schema does not read as they are."""
    reader = form.reader
    if reader is None:
        return
    for each in seen.kinds[0].schemas:
        written = answers.schemas[each]
        if written == reader:
            continue
        try:
            before, now = as_read(form, written), as_read(form, reader)
            why = kind_of(form.kind).loss(before, now, form.record)
        except ValueError as problem:
            why = str(problem)
        if why:
            yield f"Not all records of schema {each} can be read as schema {reader.key}: {why}"


def _named_types(answers: Answers, seen: Seen, form: RegisteredFormat) -> Iterator[str]:
    """Why the proposal has the key for Connect's and Debezium's types, or what they would be."""
    page = "docs/formats.md#rows-that-connect-wrote"
    if form.reader is not None:
        found = _listed(kind_of(form.kind).named_types(form.reader))
        if found and form.envelope == "connect":
            yield (
                f"The {seen.source}s' schema names types of Connect's or Debezium's: {found}."
                " envelope: connect makes the columns what these mean. Without it the first run"
                f" would make them the plain numbers, texts or bytes for good: {page}"
            )
        return
    for each in seen.kinds[0].schemas[:_SCHEMAS_TOLD]:
        if found := _listed(kind_of(form.kind).named_types(answers.schemas[each])):
            yield (
                f"Schema {each} names types of Connect's or Debezium's, {found}, and the columns"
                f" here are those of the numbers and texts: {page}"
            )


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _NAMES_TOLD else ""
    return ", ".join(names[:_NAMES_TOLD]) + more


def _remarks(seen: Seen, form: RegisteredFormat) -> Iterator[str]:
    rows: Sequence[dict[str, object]] = seen.rows(seen.kinds[0].name)
    if envelope := envelope_of(rows):
        yield str(envelope)
    yield from islice(remarks_on(form.columns, rows), _TOLD)
