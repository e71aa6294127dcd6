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
from sluice.lake.decoding.frames import frame_of, frame_refusal
from sluice.lake.decoding.protobuf_decoding import ProtobufDecoding
from sluice.lake.decoding.strict_json import ERROR, VALUE, StrictJson
from sluice.spec.formats import AvroFormat, Format, JsonFormat, ProtobufFormat, RawFormat, Source
from sluice.spec.registered import RegisteredSchema

DECODED: Mapping[Source, str] = {"value": "decoded", "key": "decoded_key"}
Writers = Mapping[str, RegisteredSchema]
"""The schemas that records may have been written with, by the key that the records name."""


class Decode(Protocol):
    """Adds struct column `DECODED[source]`: the format's columns and `_error`, null if decodable.

    Where the source is null, so are all of them. Without `exact` it is quicker, but takes some
    decodable records for undecodable ones. An error that begins with UNKNOWN_SCHEMA, and the key,
    says that the writer's schema is not among those known.
    """

    def __call__(self, records: DataFrame, *, exact: bool) -> DataFrame:
        """The records with the column."""


@singledispatch
def decoder(form: Format, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    """The format's decoding; made once, it is cheap for every pass.

    With `rescue` the struct has `_rescued` as well: fields that no column declares, as JSON text.
    """
    raise TypeError(f"no decoding for {form}")


@decoder.register
def _(form: RawFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        nothing_wrong = F.lit(None).cast("string").alias(ERROR)
        return records.withColumn(
            DECODED[source], F.struct(F.col(source).alias(VALUE), nothing_wrong)
        )

    return decode


@decoder.register
def _(form: JsonFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    nonce = uuid.uuid4().hex
    body, refusal = f"_{nonce}_body", f"_{nonce}_refusal"
    framed = form.registry is not None
    strict = StrictJson(
        struct_type(form.columns),
        nonce,
        form.timestamp_unit,
        raw=F.col(body if framed else source),
        refusal=F.col(refusal) if framed else None,
        rescue=rescue,
    )

    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        return strict.decode(records, DECODED[source], exact)

    def decode_framed(records: DataFrame, *, exact: bool) -> DataFrame:
        frame = frame_of(source)
        why = frame_refusal(frame, source, writers, "JSON")
        with_body = records.withColumn(refusal, why).withColumn(
            body, F.when(F.col(refusal).isNull(), frame.body)
        )
        return decode(with_body, exact=exact).drop(body, refusal)

    return decode_framed if framed else decode


@decoder.register
def _(form: AvroFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    records_in_avro = AvroRecords(
        form.reader, writers if form.registry else None, source, uuid.uuid4().hex, rescue
    )

    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        return records_in_avro.decode(records, DECODED[source])

    return decode


@decoder.register
def _(form: ProtobufFormat, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    protobuf = ProtobufDecoding(form, source, writers, DECODED[source])

    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        return protobuf.decode(records)

    return decode
