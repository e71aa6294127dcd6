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
from sluice.lake.decoding.strict_json import ERROR, VALUE, StrictJson
from sluice.spec.formats import AvroFormat, Format, JsonFormat, RawFormat, Source
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
def decoder(form: Format, source: Source, writers: Writers) -> Decode:
    """The format's decoding; made once, it is cheap for every pass."""
    raise TypeError(f"no decoding for {form}")


@decoder.register
def _(form: RawFormat, source: Source, writers: Writers) -> Decode:
    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        nothing_wrong = F.lit(None).cast("string").alias(ERROR)
        return records.withColumn(
            DECODED[source], F.struct(F.col(source).alias(VALUE), nothing_wrong)
        )

    return decode


@decoder.register
def _(form: JsonFormat, source: Source, writers: Writers) -> Decode:
    strict = StrictJson(
        struct_type(form.columns), uuid.uuid4().hex, form.timestamp_unit, F.col(source)
    )

    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        return strict.decode(records, DECODED[source], exact)

    return decode


@decoder.register
def _(form: AvroFormat, source: Source, writers: Writers) -> Decode:
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    records_in_avro = AvroRecords(
        form.reader, writers if form.registry else None, source, uuid.uuid4().hex
    )

    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        return records_in_avro.decode(records, DECODED[source])

    return decode
