"""Decoding: a record's value, or its key, becomes the declared columns, or an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro_records import CONTAINER, avro_struct
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR, VALUE
from sluice.lake.decoding.json_records import (
    Unmatched,
    json_frames,
    json_struct,
    json_value_struct,
)
from sluice.lake.decoding.made_columns import fields_of, made_columns
from sluice.lake.decoding.payloads import decoded_payload, is_wrapped
from sluice.lake.decoding.protobuf_records import protobuf_struct
from sluice.lake.decoding.scalar_keys import scalar_struct
from sluice.schemas.avro.connect_names import meant
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import AvroFormat, JsonFormat, ProtobufFormat, Source
from sluice.spec_file.key_formats import KeyFormat, ScalarFormat
from sluice.spec_file.plain_formats import RawFormat
from sluice.spec_file.record_formats import RecordFormats

DECODED: Mapping[Source, str] = {"value": "decoded", "key": "decoded_key"}
Writers = Mapping[str, RegisteredSchema]
"""The schemas that records may have been written with, by the key that the records name."""


class Decode(Protocol):
    """Adds struct column `DECODED[source]`: the format's columns and `(error)`, null if decodable.

    Where the source is null, so are all of them. If the formats tell it apart, `(lacking)` follows:
    what a decodable record has not that it must have.
    """

    def __call__(self, records: DataFrame) -> DataFrame:
        """The records with the column."""


def decoder_of(formats: RecordFormats, source: Source, writers: Writers) -> Decode:
    """The decoding of a spec's records, of their values or keys."""
    form, rescues = formats.by_source[source], formats.rescues(source)
    return decoder(form, source, writers, rescues, formats.required_of(source), formats.apart)


def decoder(
    form: KeyFormat,
    source: Source,
    writers: Writers,
    rescue: bool = False,
    required: Sequence[str] = (),
    apart: bool = False,
) -> Decode:
    """The format's decoding; made once, it is cheap for every pass.

    With `rescue` the struct has `_rescued` as well: fields that no column declares, as JSON text.
    """
    decode = _of_payload(form, source, writers, rescue, required, apart)
    if not is_wrapped(form):
        return decode
    name = DECODED[source]
    return lambda records: decoded_payload(records, form, source, name, rescue, apart, decode)


def _of_payload(
    form: KeyFormat,
    source: Source,
    writers: Writers,
    rescue: bool,
    required: Sequence[str],
    apart: bool,
) -> Decode:
    """The decoding of records that are nothing but their payload."""
    name = DECODED[source]
    read = _struct(form, source, writers, rescue, apart)
    made = made_columns(F.col(name), form, source, required, rescue, apart)
    if made is None:
        return lambda records: records.withColumn(name, read)
    return lambda records: records.withColumn(name, read).withColumn(name, made)


@singledispatch
def _struct(form: KeyFormat, source: Source, writers: Writers, rescue: bool, apart: bool) -> Column:
    raise TypeError(f"no decoding for {form}")


@_struct.register
def _(form: RawFormat, source: Source, writers: Writers, rescue: bool, apart: bool) -> Column:
    return F.struct(F.col(source).alias(VALUE), F.lit(None).cast("string").alias(ERROR))


@_struct.register
def _(form: ScalarFormat, source: Source, writers: Writers, rescue: bool, apart: bool) -> Column:
    return scalar_struct(form.type, source)


@_struct.register
def _(form: JsonFormat, source: Source, writers: Writers, rescue: bool, apart: bool) -> Column:
    frames = json_frames(form, source, writers)
    if not form.has_fields:
        return json_value_struct(struct_type(form.columns), source, frames, form.at, rescue)
    unmatched: Unmatched = "lands" if form.allow_unmatched else "apart" if apart else "fails"
    given = (frames, form.at, form.timestamp_unit, rescue, unmatched, form.envelope)
    return json_struct(fields_of(form), source, *given)


@_struct.register
def _(form: AvroFormat, source: Source, writers: Writers, rescue: bool, apart: bool) -> Column:
    if form.reader is None:
        raise LookupError(f"{form.registry}: the reader schema is not known yet")
    known = writers if form.registry else None
    reader = form.reader
    if form.envelope:
        reader = meant(reader)
        known = known and {key: meant(each) for key, each in known.items()}
    container = form.frame == CONTAINER
    return avro_struct(reader, fields_of(form), known, source, rescue, container)


@_struct.register
def _(form: ProtobufFormat, source: Source, writers: Writers, rescue: bool, apart: bool) -> Column:
    return protobuf_struct(form, source, writers)
