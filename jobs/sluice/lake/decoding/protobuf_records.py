"""Protobuf decoding: each record's message as the columns, in one pass on the JVM (decision 25)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import Column

from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.frames import BARE, frames_of
from sluice.lake.decoding.record_reads import read_by
from sluice.schemas.protobuf.evolution import clash
from sluice.schemas.protobuf.schema import descriptor_set, message_of, messages
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import ProtobufFormat, Source

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

# Ours (jobs/jvm/protobuf/ProtobufRecord.scala).
READ_PROTOBUF = "sluice_protobuf"


def protobuf_struct(
    form: ProtobufFormat, source: Source, writers: Mapping[str, RegisteredSchema]
) -> Column:
    """A record's columns and its error. Raises ValueError for a reader that cannot be used.

    With a registry, each record names the schema that it was written with: one of `writers`, by
    their keys.
    """
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    reader = message_of(form.reader, form.record)

    def known(writer: RegisteredSchema) -> Mapping[str, str] | str:
        return _messages(writer, reader)

    frames = BARE if form.registry is None else frames_of(source, writers, "PROTOBUF", known)
    files = base64.b64encode(descriptor_set(reader)).decode()
    fields = struct_type(form.columns)
    return read_by(READ_PROTOBUF, source, fields, frames, files, reader.full_name)


def _messages(schema: RegisteredSchema, reader: Descriptor) -> Mapping[str, str] | str:
    """The messages of a schema, or why its records cannot be decoded."""
    try:
        found = messages(message_of(schema, None).file)
    except ValueError as problem:
        return f"schema {problem}"
    for each in found.values():
        if each.full_name == reader.full_name and (difference := clash(each, reader)):
            return f"{difference} in schema {schema.key}"
    return {".".join(map(str, indexes)): each.full_name for indexes, each in found.items()}
