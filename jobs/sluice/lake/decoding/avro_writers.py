"""Avro writers: the schemas that records are written with, each as a reader sees it. Pure."""

from __future__ import annotations

from sluice.schemas.avro.columns import columns_of
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.resolution import counterpart, refusal
from sluice.schemas.avro.schema import AvroSchema, Member, RecordType, Ref
from sluice.schemas.registered import RegisteredSchema


def refusal_of(found: RegisteredSchema, reader: AvroSchema, reader_key: str) -> str:
    """Why no record of a writer's schema can be read as the reader's; empty if some can."""
    name = f"schema id {reader_key}" if reader_key.isdecimal() else reader_key
    try:
        why = refusal(parse_avro(found), reader)
    except ValueError as problem:
        why = str(problem)
    return f"cannot be read as {name}: {why}" if why else ""


def only_written(written: AvroSchema, reader: AvroSchema) -> AvroSchema | None:
    """The outermost fields that the reader has not, dates and times as the numbers that they are.

    None without any that JSON can hold.
    """
    theirs, ours = written.named(written.root), reader.named(reader.root)
    if not isinstance(theirs, RecordType) or not isinstance(ours, RecordType):
        return None
    known = {each.name for field in ours.fields if (each := counterpart(theirs, field))}
    new = tuple(x for x in theirs.fields if x.name not in known and _is_held(written, x))
    if not new:
        return None
    record = RecordType(theirs.name, (), new)
    return AvroSchema(Ref(theirs.name), {**written.names, theirs.name: record}).as_carried()


def _is_held(schema: AvroSchema, field: Member) -> bool:
    """Whether a column could hold the field: others, such as recursive ones, are left out."""
    alone = RecordType("sluice_alone", (), (field,))
    try:
        columns_of(AvroSchema(Ref(alone.name), {**schema.names, alone.name: alone}))
    except ValueError:
        return False
    return True
