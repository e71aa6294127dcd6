"""Protobuf decoding: each record's message as the columns, in one pass on the JVM (decision 25)."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from pyspark.sql import Column

from sluice.lake.decoding.frames import BARE, frames_of
from sluice.lake.decoding.made_columns import fields_of
from sluice.lake.decoding.record_reads import read_by
from sluice.schemas.protobuf.evolution import clash
from sluice.schemas.protobuf.schema import Indexes, descriptor_set, message_of, messages
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import ProtobufFormat, Source

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

log = logging.getLogger(__name__)

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
        try:
            found = messages(message_of(writer, None).file)
        except ValueError as problem:
            if form.schema_file is None:
                return f"schema {problem}"
            place = str(form.record), str(form.schema_file)
            _tell_of_stand_in(str(form.registry), writer.key, *place, str(problem))
            # A record has to name the place that its message has in the file that stands in.
            found = messages(reader.file)
        return _by_indexes(writer.key, found, reader)

    frames = BARE if form.registry is None else frames_of(source, writers, "PROTOBUF", known)
    files = base64.b64encode(descriptor_set(reader)).decode()
    fields = fields_of(form)
    return read_by(READ_PROTOBUF, source, fields, frames, files, reader.full_name)


def places_of(form: ProtobufFormat) -> tuple[str, Mapping[str, str]]:
    """The message of a form without a registry, and all those of its file by their places.

    What names a place in Confluent's frame are the indexes, and in AWS Glue's where the message
    stands among all, those of maps included, in the order of their full names.
    """
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    reader = message_of(form.reader, form.record)
    if form.frame == "confluent":
        return reader.full_name, _named(messages(reader.file))
    every = sorted(messages(reader.file, entries=True).values(), key=lambda each: each.full_name)
    return reader.full_name, {str(place): each.full_name for place, each in enumerate(every)}


def _named(found: Mapping[Indexes, Descriptor]) -> Mapping[str, str]:
    return {".".join(map(str, indexes)): each.full_name for indexes, each in found.items()}


def _by_indexes(
    key: str, found: Mapping[Indexes, Descriptor], reader: Descriptor
) -> Mapping[str, str] | str:
    """The names of a schema's messages, or why its records cannot be decoded."""
    for each in found.values():
        if each.full_name == reader.full_name and (difference := clash(each, reader)):
            return f"{difference} in schema {key}"
    return _named(found)


@cache
def _tell_of_stand_in(registry: str, key: str, record: str, file: str, problem: str) -> None:
    """Once in a process: each batch decodes anew."""
    log.warning(
        "%s: schema %s cannot be read; its records are read as %s of schema_file %s, without"
        " comparing the two: %s",
        *(registry, key, record, file, problem),
    )
