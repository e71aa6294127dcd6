"""Avro decoding: each record from its writer's schema to the reader's, in one pass on the JVM.

What the pass refuses and what the columns cannot hold are the record's errors (decision 24).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import types as T

from sluice.lake.decoding.frames import BARE, frames_of
from sluice.lake.decoding.record_reads import read_by
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.resolution import refusal
from sluice.schemas.avro.schema import AvroSchema
from sluice.schemas.avro.text import schema_text
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import Source

# Ours (jobs/jvm/avro/AvroDatum.scala).
READ_AVRO = "sluice_avro"
# In place of frames (jobs/jvm/avro/AvroContainer.scala).
CONTAINER = "container"


def avro_struct(
    reader: RegisteredSchema,
    fields: T.StructType,
    writers: Mapping[str, RegisteredSchema] | None,
    source: Source,
    rescue: bool = False,
    container: bool = False,
) -> Column:
    """A record's fields and its error: those of the reader that are named in `fields`.

    With `writers`, by their keys, each record names the one that it was written with; without,
    all are written with the reader's, or are `container` files that have their writer's. `rescue`
    keeps the fields that no column is read from, as JSON text.
    """
    ours = parse_avro(reader)

    def known(writer: RegisteredSchema) -> Any:
        return _known(writer, reader.key, ours)

    alone = CONTAINER if container else BARE
    frames = alone if writers is None else frames_of(source, writers, "AVRO", known)
    return read_by(READ_AVRO, source, fields, frames, schema_text(ours), rescue)


def _known(found: RegisteredSchema, reader_key: str, reader: AvroSchema) -> Any:
    """The writer's schema, or why no record of it can be read as the reader's."""
    name = f"schema id {reader_key}" if reader_key.isdecimal() else reader_key
    try:
        written = parse_avro(found)
        why = refusal(written, reader)
    except ValueError as problem:
        why = str(problem)
    if why:
        return f"schema id {found.key} cannot be read as {name}: {why}"
    return {"schema": schema_text(written)}
