"""Reader choice: whether a schema may become the one that all records are read as. Pure.

Only a schema that holds everything that the reader holds may replace it: every column of the table
keeps its field, no column changes its type except as `evolution` allows, and records that the
reader reads whole are read whole. If two schemas hold each other, the higher number is the reader.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sluice.columns.columns import Column
from sluice.columns.twins import kept_twins
from sluice.columns.type_changes import new_columns, type_changes
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import RegisteredFormat
from sluice.spec_file.pipeline_spec import Evolution


@dataclass(frozen=True)
class ReaderChoice:
    """The reader, and why another schema did not become it; empty where it did, or adds nothing."""

    reader: RegisteredSchema
    kept_for: str = ""


def choose_reader(
    form: RegisteredFormat,
    reader: RegisteredSchema,
    found: RegisteredSchema,
    evolution: Evolution,
) -> ReaderChoice:
    """Which of two schemas is the reader; whether the table can hold it is asked elsewhere."""
    if found.kind != form.kind:
        return ReaderChoice(reader, f"expected a schema of kind {form.kind}, found {found.kind}")
    if found == reader:
        return ReaderChoice(reader)
    try:
        found = _beside(form, reader, found)
        before, now = form.read_as(reader).columns, form.read_as(found).columns
    except ValueError as problem:
        return ReaderChoice(reader, str(problem))
    kind = kind_of(form.kind)
    if other := kind.other_record(found, reader, form.record):
        return ReaderChoice(reader, other)
    # By name, a field `ID` is not read as `id`, and would be lost.
    added, gone = (new_columns(*each, kind.by_name) for each in ((before, now), (now, before)))
    if gone:
        whole = f"it lacks {', '.join(gone)}" if added else ""
        return ReaderChoice(reader, whole)
    if added and evolution == "strict":
        return ReaderChoice(reader, f"evolution is strict, and it adds {', '.join(added)}")
    if clashes := clashes_of(before, now, evolution):
        return ReaderChoice(reader, clashes)
    holds_more = added or any(type_changes(before, now)) or kind.loss(found, reader, form.record)
    if not holds_more and not is_newer(found, reader):
        return ReaderChoice(reader)
    if lost := kind.loss(as_read(form, reader), as_read(form, found), form.record):
        return ReaderChoice(reader, f"not all of schema {reader.key} could be read as it: {lost}")
    if gone_too := kind.narrowing(reader, found):
        return ReaderChoice(reader, f"it reads less than schema {reader.key}: {gone_too}")
    return ReaderChoice(found)


def as_read(form: RegisteredFormat, schema: RegisteredSchema) -> RegisteredSchema:
    """The schema as the format reads records by it."""
    return kind_of(form.kind).meant(schema) if form.envelope else schema


def _beside(
    form: RegisteredFormat, reader: RegisteredSchema, found: RegisteredSchema
) -> RegisteredSchema:
    """The schema, in which fields of the reader keep their columns. Raises ValueError."""
    kind = kind_of(form.kind)
    if not kind.opens:
        return found
    before, now = (kind.declared(each, form.record) for each in (reader, found))
    return replace(found, kept=tuple(kept_twins(now.fields, before.columns)))


def clashes_of(before: Iterable[Column], now: Iterable[Column], evolution: Evolution) -> str:
    """The types that differ and must not, as a reason; empty if there are none."""
    changes = type_changes(before, now)
    clashes = [each for each in changes if not (evolution == "widen" and each.widens)]
    listed = "; ".join(f"{each.name} from {each.stored} to {each.declared}" for each in clashes)
    return f"evolution is {evolution}, and it changes {listed}" if clashes else ""


def is_newer(found: RegisteredSchema, reader: RegisteredSchema) -> bool:
    """A registry numbers schemas in the order in which it first sees them. GUIDs say nothing."""
    return are_numbers(found, reader) and int(found.key) > int(reader.key)


def are_numbers(*schemas: RegisteredSchema) -> bool:
    """Whether all their keys are numbers; others are GUIDs."""
    return all(each.key.isdecimal() for each in schemas)
