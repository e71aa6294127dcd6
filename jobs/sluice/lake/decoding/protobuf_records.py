"""Protobuf decoding: each record's message as the columns, in one pass on the JVM (decision 25)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR, refused
from sluice.lake.decoding.frames import frame_of, frame_refusal, header_of
from sluice.schemas.protobuf.evolution import clash
from sluice.schemas.protobuf.schema import descriptor_set, message_of, messages
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import ProtobufFormat, Source

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

# Ours (jobs/jvm/protobuf/ProtobufRecord.scala): the message's fields, and ERROR.
READ_PROTOBUF = "sluice_protobuf"


class ProtobufRecords:
    """Records that are a message each.

    With a registry, each names the schema that it was written with: one of `writers`, by their
    keys. `nonce` is a part of names that no column has.
    """

    def __init__(
        self,
        form: ProtobufFormat,
        source: Source,
        writers: Mapping[str, RegisteredSchema],
        nonce: str,
    ) -> None:
        """Raises ValueError for a reader that cannot be used."""
        if form.reader is None:
            raise LookupError(f"{form.registry}: the reader schema is not known yet")
        reader = message_of(form.reader, form.record)
        self._fields = struct_type(form.columns)
        self._source = F.col(source)
        self._read = f"_{nonce}_read"
        self._refusal, header, known = None, F.lit(None).cast("binary"), ""
        if form.registry is not None:
            self._refusal = frame_refusal(frame_of(source), source, writers, "PROTOBUF")
            header, known = header_of(source), _messages_of(writers, reader)
        files = base64.b64encode(descriptor_set(reader)).decode()
        literals = (self._fields.json(), files, reader.full_name, known)
        self._call = F.call_function(
            READ_PROTOBUF, F.struct(self._source, header), *map(F.lit, literals)
        )

    def decode(self, records: DataFrame, into: str) -> DataFrame:
        """Add struct column `into`: the columns, and `_error`, null where decodable.

        Not deterministic, or Spark would copy the reading into a filter on an error.
        """
        read = F.when(self._source.isNotNull() & (F.spark_partition_id() >= 0), self._call)
        if self._refusal is None:
            return records.withColumn(into, read)
        found = F.col(self._read)
        wrong = refused(self._fields, self._refusal)
        decoded = F.when(found[ERROR] == "", wrong).otherwise(found)
        return records.withColumn(self._read, read).withColumn(into, decoded).drop(self._read)


def _messages_of(writers: Mapping[str, RegisteredSchema], reader: Descriptor) -> str:
    """The messages that each schema has, or why its records cannot be decoded, as JSON."""
    ours = (each for each in writers.values() if each.kind == "PROTOBUF")
    return json.dumps({each.key: _messages(each, reader) for each in ours})


def _messages(schema: RegisteredSchema, reader: Descriptor) -> Mapping[str, str] | str:
    try:
        found = messages(message_of(schema, None).file)
    except ValueError as problem:
        return f"schema {problem}"
    for each in found.values():
        if each.full_name == reader.full_name and (difference := clash(each, reader)):
            return f"{difference} in schema {schema.key}"
    return {".".join(map(str, indexes)): each.full_name for indexes, each in found.items()}
