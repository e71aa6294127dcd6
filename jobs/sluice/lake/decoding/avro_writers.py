"""Avro writers: the schemas that records are written with, each as a reader sees it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.schemas.avro.columns import columns_of
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.resolution import counterpart, refusal
from sluice.schemas.avro.schema import AvroSchema, Member, Record, Ref, Scalar
from sluice.schemas.registered import RegisteredSchema

UNREADABLE = "cannot be read as "


@dataclass(frozen=True)
class Writer:
    """A schema that records are written with.

    `refused` says why none of them can be read, and begins with UNREADABLE. `more` has only the
    outermost fields that the reader has not; None without any that JSON can hold.
    """

    schema: AvroSchema
    refused: str = ""
    more: AvroSchema | None = None


def writer_of(found: RegisteredSchema, reader: AvroSchema, reader_key: str) -> Writer:
    """The writer's schema, if it can be read as the reader's."""
    name = f"schema id {reader_key}" if reader_key.isdecimal() else reader_key
    try:
        written = parse_avro(found)
    except ValueError as problem:
        return Writer(AvroSchema(Scalar("null")), refused=f"{UNREADABLE}{name}: {problem}")
    why = refusal(written, reader)
    refused = f"{UNREADABLE}{name}: {why}" if why else ""
    return Writer(written, refused, _more(written, reader))


def _more(written: AvroSchema, reader: AvroSchema) -> AvroSchema | None:
    theirs, ours = written.named(written.root), reader.named(reader.root)
    if not isinstance(theirs, Record) or not isinstance(ours, Record):
        return None
    known = {each.name for field in ours.fields if (each := counterpart(theirs, field))}
    new = tuple(x for x in theirs.fields if x.name not in known and _is_held(written, x))
    if not new:
        return None
    record = Record(theirs.name, (), new)
    return AvroSchema(Ref(theirs.name), {**written.names, theirs.name: record})


def _is_held(schema: AvroSchema, field: Member) -> bool:
    """Whether a column could hold the field: others, such as recursive ones, are left out."""
    alone = Record("sluice_alone", (), (field,))
    try:
        columns_of(AvroSchema(Ref(alone.name), {**schema.names, alone.name: alone}))
    except ValueError:
        return False
    return True
