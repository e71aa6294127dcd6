"""Reader choice: whether a schema may become the one that all records are read as. Pure.

A reader is replaced only by a schema whose columns hold all that its own hold: no column of the
table is left without its field, and none changes its type but as `evolution` allows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sluice.spec.columns import Column
from sluice.spec.formats import AvroFormat, JsonFormat, ProtobufFormat
from sluice.spec.pipeline_spec import Evolution
from sluice.spec.registered import RegisteredSchema
from sluice.spec.type_changes import new_columns, type_changes


@dataclass(frozen=True)
class ReaderChoice:
    """The reader, and why another schema did not become it; empty where it did, or adds nothing."""

    reader: RegisteredSchema
    kept_for: str = ""


def choose_reader(
    form: AvroFormat | JsonFormat | ProtobufFormat,
    reader: RegisteredSchema,
    found: RegisteredSchema,
    evolution: Evolution,
) -> ReaderChoice:
    """Which of two schemas is the reader; whether the table can hold it is asked elsewhere."""
    if found.kind != form.kind:
        return ReaderChoice(reader, f"expected a schema of kind {form.kind}, found {found.kind}")
    if found == reader or not _is_newer(found, reader):
        return ReaderChoice(reader)
    try:
        before, now = form.read_as(reader).columns, form.read_as(found).columns
    except ValueError as problem:
        return ReaderChoice(reader, str(problem))
    added = new_columns(before, now)
    if _record(found) != _record(reader):
        return ReaderChoice(reader, f"it is another record, {_record(found)}")
    if before == now and not _are_numbers(found, reader):
        return ReaderChoice(reader)
    if gone := new_columns(now, before):
        whole = f"it lacks {', '.join(gone)}" if added else ""
        return ReaderChoice(reader, whole)
    if added and evolution == "strict":
        return ReaderChoice(reader, f"evolution is strict, and it adds {', '.join(added)}")
    if clashes := clashes_of(before, now, evolution):
        return ReaderChoice(reader, clashes)
    return ReaderChoice(found)


def clashes_of(before: Iterable[Column], now: Iterable[Column], evolution: Evolution) -> str:
    """The types that differ and may not; empty where there are none."""
    changes = type_changes(before, now)
    clashes = [each for each in changes if not (evolution == "widen" and each.widens)]
    told = "; ".join(f"{each.name} from {each.stored} to {each.declared}" for each in clashes)
    return f"evolution is {evolution}, and it changes {told}" if clashes else ""


def _is_newer(found: RegisteredSchema, reader: RegisteredSchema) -> bool:
    """A registry numbers schemas in the order in which it first sees them."""
    return not _are_numbers(found, reader) or int(found.key) > int(reader.key)


def _are_numbers(*schemas: RegisteredSchema) -> bool:
    """GUIDs say nothing about which schema is newer."""
    return all(each.key.isdecimal() for each in schemas)


def _record(schema: RegisteredSchema) -> object:
    """The full name of an Avro record: another record's schema is no newer version of it."""
    if schema.kind != "AVRO":
        return schema.kind
    try:
        match json.loads(schema.text):
            case {"name": str(name)} if "." in name:
                return name
            case {"name": str(name), "namespace": str(namespace)} if namespace:
                return f"{namespace}.{name}"
            case {"name": name}:
                return name
    except (ValueError, RecursionError):
        pass
    return None
