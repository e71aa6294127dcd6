"""Decoding: a record's value becomes the declared columns, or an error."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import singledispatch
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro import AvroRecords
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR, VALUE
from sluice.lake.decoding.frames import frame_of, frame_refusal
from sluice.lake.decoding.json_records import JsonRecords
from sluice.lake.decoding.protobuf_records import ProtobufRecords
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import (
    AvroFormat,
    Format,
    JsonFormat,
    ProtobufFormat,
    RawFormat,
    Source,
)

DECODED: Mapping[Source, str] = {"value": "decoded", "key": "decoded_key"}
Writers = Mapping[str, RegisteredSchema]
"""The schemas that records may have been written with, by the key that the records name."""


class Decode(Protocol):
    """Adds struct column `DECODED[source]`: the format's columns and `_error`, null if decodable.

    Where the source is null, so are all of them. An error that begins with UNKNOWN_SCHEMA, and the
    key, says that the writer's schema is not among those known.
    """

    def __call__(self, records: DataFrame) -> DataFrame:
        """The records with the column."""


@singledispatch
def decoder(form: Format, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    """The format's decoding; made once, it is cheap for every pass.

    With `rescue` the struct has `_rescued` as well: fields that no column declares, as JSON text.
    """
    raise TypeError(f"no decoding for {form}")


@decoder.register
def _(form: RawFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    def decode(records: DataFrame) -> DataFrame:
        nothing_wrong = F.lit(None).cast("string").alias(ERROR)
        return records.withColumn(
            DECODED[source], F.struct(F.col(source).alias(VALUE), nothing_wrong)
        )

    return decode


@decoder.register
def _(form: JsonFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    fields, unit = struct_type(form.columns), form.timestamp_unit
    if form.registry is None:
        bare = JsonRecords(fields, F.col(source), unit, rescue=rescue)
        return lambda records: bare.decode(records, DECODED[source])
    nonce = uuid.uuid4().hex
    body, refusal = f"_{nonce}_body", f"_{nonce}_refusal"
    framed = JsonRecords(fields, F.col(body), unit, F.col(refusal), rescue)
    told = {key: form.other_record(each) for key, each in writers.items()}
    others = {key: text for key, text in told.items() if text}

    def decode(records: DataFrame) -> DataFrame:
        frame = frame_of(source)
        why = frame_refusal(frame, source, writers, "JSON", others)
        with_body = records.withColumn(refusal, why).withColumn(
            body, F.when(F.col(refusal).isNull(), frame.body)
        )
        return framed.decode(with_body, DECODED[source]).drop(body, refusal)

    return decode


@decoder.register
def _(form: AvroFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    records_in_avro = AvroRecords(
        form.reader, writers if form.registry else None, source, uuid.uuid4().hex, rescue
    )

    def decode(records: DataFrame) -> DataFrame:
        return records_in_avro.decode(records, DECODED[source])

    return decode


@decoder.register
def _(form: ProtobufFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    messages = ProtobufRecords(form, source, writers, uuid.uuid4().hex)
    return lambda records: messages.decode(records, DECODED[source])
