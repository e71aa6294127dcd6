"""Decoding: a record's value becomes the declared columns, or an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro_records import avro_struct
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR, VALUE
from sluice.lake.decoding.json_records import json_frames, json_struct
from sluice.lake.decoding.protobuf_records import protobuf_struct
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
    """Adds struct column `DECODED[source]`: the format's columns and `(error)`, null if decodable.

    Where the source is null, so are all of them.
    """

    def __call__(self, records: DataFrame) -> DataFrame:
        """The records with the column."""


def decoder(form: Format, source: Source, writers: Writers, rescue: bool = False) -> Decode:
    """The format's decoding; made once, it is cheap for every pass.

    With `rescue` the struct has `_rescued` as well: fields that no column declares, as JSON text.
    """
    decoded = _struct(form, source, writers, rescue)
    return lambda records: records.withColumn(DECODED[source], decoded)


@singledispatch
def _struct(form: Format, source: Source, writers: Writers, rescue: bool) -> Column:
    raise TypeError(f"no decoding for {form}")


@_struct.register
def _(form: RawFormat, source: Source, writers: Writers, rescue: bool) -> Column:
    return F.struct(F.col(source).alias(VALUE), F.lit(None).cast("string").alias(ERROR))


@_struct.register
def _(form: JsonFormat, source: Source, writers: Writers, rescue: bool) -> Column:
    frames = json_frames(form, source, writers)
    return json_struct(struct_type(form.columns), source, frames, form.timestamp_unit, rescue)


@_struct.register
def _(form: AvroFormat, source: Source, writers: Writers, rescue: bool) -> Column:
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    return avro_struct(form.reader, writers if form.registry else None, source, rescue)


@_struct.register
def _(form: ProtobufFormat, source: Source, writers: Writers, rescue: bool) -> Column:
    return protobuf_struct(form, source, writers)
