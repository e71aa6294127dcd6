"""Reader choice: whether a schema may become the one that all records are read as. Pure.

A reader is replaced only by a schema that holds all that it holds: no column of the table is left
without its field, none changes its type but as `evolution` allows, and what the reader reads whole
is read whole. Of two that hold each other the one with the higher number is the reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sluice.columns.columns import Column
from sluice.columns.type_changes import new_columns, type_changes
from sluice.schemas.avro.narrowing import narrowing
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.resolution import loss
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import AvroFormat, JsonFormat, ProtobufFormat
from sluice.spec_file.pipeline_spec import Evolution

Form = AvroFormat | JsonFormat | ProtobufFormat


@dataclass(frozen=True)
class ReaderChoice:
    """The reader, and why another schema did not become it; empty where it did, or adds nothing."""

    reader: RegisteredSchema
    kept_for: str = ""


def choose_reader(
    form: Form,
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
        before, now = form.read_as(reader).columns, form.read_as(found).columns
    except ValueError as problem:
        return ReaderChoice(reader, str(problem))
    if _record(found) != _record(reader):
        return ReaderChoice(reader, f"it is another record, {_record(found)}")
    if isinstance(form, JsonFormat) and (why := form.read_as(reader).other_record(found)):
        return ReaderChoice(reader, why)
    # Records of Avro and JSON are read by exact names: `ID` is none of `id`, and would be lost.
    exact = form.kind != "PROTOBUF"
    added, gone = new_columns(before, now, exact), new_columns(now, before, exact)
    if gone:
        whole = f"it lacks {', '.join(gone)}" if added else ""
        return ReaderChoice(reader, whole)
    if added and evolution == "strict":
        return ReaderChoice(reader, f"evolution is strict, and it adds {', '.join(added)}")
    if clashes := clashes_of(before, now, evolution):
        return ReaderChoice(reader, clashes)
    holds_more = added or any(type_changes(before, now)) or _loss(form, found, reader)
    if not holds_more and not is_newer(found, reader):
        return ReaderChoice(reader)
    if lost := _loss(form, reader, found):
        return ReaderChoice(reader, f"not all of schema {reader.key} could be read as it: {lost}")
    if gone_too := _narrowing(reader, found):
        return ReaderChoice(reader, f"it reads less than schema {reader.key}: {gone_too}")
    return ReaderChoice(found)


def clashes_of(before: Iterable[Column], now: Iterable[Column], evolution: Evolution) -> str:
    """The types that differ and may not; empty where there are none."""
    changes = type_changes(before, now)
    clashes = [each for each in changes if not (evolution == "widen" and each.widens)]
    told = "; ".join(f"{each.name} from {each.stored} to {each.declared}" for each in clashes)
    return f"evolution is {evolution}, and it changes {told}" if clashes else ""


def is_newer(found: RegisteredSchema, reader: RegisteredSchema) -> bool:
    """A registry numbers schemas in the order in which it first sees them. GUIDs say nothing."""
    return are_numbers(found, reader) and int(found.key) > int(reader.key)


def are_numbers(*schemas: RegisteredSchema) -> bool:
    """Whether all their keys are numbers; others are GUIDs."""
    return all(each.key.isdecimal() for each in schemas)


def _loss(form: Form, written: RegisteredSchema, read: RegisteredSchema) -> str:
    """What columns do not tell of: symbols, types of a union, defaults, numbers of fields."""
    match written.kind:
        case "AVRO":
            return loss(parse_avro(written), parse_avro(read))
        case "PROTOBUF":
            from sluice.schemas.protobuf.evolution import message_loss
            from sluice.schemas.protobuf.schema import message_of

            return message_loss(message_of(written, form.record), message_of(read, form.record))
        case "JSON":
            return ""


def _narrowing(before: RegisteredSchema, now: RegisteredSchema) -> str:
    """What else the reader reads: records that were written before it, by its defaults."""
    return narrowing(parse_avro(before), parse_avro(now)) if before.kind == "AVRO" else ""


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
