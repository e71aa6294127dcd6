"""Payloads: a record's bytes without what is around them, for its format to decode.

What is around them is taken off on the JVM (jobs/jvm/frames/Payload.scala). The record keeps its
own bytes: they are what goes to quarantine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro_records import CONTAINER
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR, LACKING, RESCUED
from sluice.lake.decoding.frames import header_of
from sluice.lake.decoding.protobuf_records import places_of
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.text import schema_text
from sluice.spec_file.formats import AvroFormat, ProtobufFormat, RegisteredFormat, Source
from sluice.spec_file.key_formats import KeyFormat
from sluice.spec_file.plain_formats import RawFormat

# Ours (jobs/jvm/frames/Payload.scala).
PAYLOAD = "sluice_payload"
_WHOLE, _OPENED = "_sluice_whole", "_sluice_opened"


def is_wrapped(form: KeyFormat | RegisteredFormat) -> bool:
    """Whether anything has to be taken off before its records are decoded."""
    return bool(_compression(form) or _frame(form))


def with_payload(
    records: DataFrame, form: KeyFormat | RegisteredFormat, source: Source
) -> DataFrame:
    """The records with their payload as the source; null where there is none."""
    return _opened(records, form, source).drop(_WHOLE, _OPENED)


def decoded_payload(
    records: DataFrame,
    form: KeyFormat | RegisteredFormat,
    source: Source,
    name: str,
    rescue: bool,
    apart: bool,
    decode: Callable[[DataFrame], DataFrame],
) -> DataFrame:
    """The records with what `decode` makes of their payload, in struct column `name`.

    Where there is no payload, the struct's error says why.
    """
    error = F.col(_OPENED)["error"]
    fields = struct_type(form.columns)
    if rescue:
        fields = fields.add(RESCUED, "string")
    nothing = [F.lit(None).cast(each.dataType).alias(each.name) for each in fields]
    lacking = [F.lit(None).cast("string").alias(LACKING)] if apart else []
    failed = F.struct(*nothing, error.alias(ERROR), *lacking)
    read = decode(_opened(records, form, source))
    return (
        read.withColumn(source, F.col(_WHOLE))
        .withColumn(name, F.when(error.isNotNull(), failed).otherwise(F.col(name)))
        .drop(_WHOLE, _OPENED)
    )


def _opened(records: DataFrame, form: KeyFormat | RegisteredFormat, source: Source) -> DataFrame:
    record = F.struct(source, "headers")
    wraps = map(F.lit, (_compression(form), _frame(form), json.dumps(_known(form, source))))
    opened = F.call_function(PAYLOAD, record, *wraps)
    # Not deterministic, or Spark would open the record again for each use of it.
    given = F.col(source).isNotNull() & (F.spark_partition_id() >= 0)
    return (
        records.withColumn(_WHOLE, F.col(source))
        .withColumn(_OPENED, F.when(given, opened))
        .withColumn(source, F.col(_OPENED)["payload"])
    )


def _compression(form: KeyFormat | RegisteredFormat) -> str:
    return (form.compression if isinstance(form, RawFormat | RegisteredFormat) else None) or ""


def _frame(form: KeyFormat | RegisteredFormat) -> str:
    """The frame, but of container files: the schema that one has decides how it is decoded."""
    frame = (form.frame if isinstance(form, RegisteredFormat) else None) or ""
    return "" if frame == CONTAINER else frame


def _known(form: KeyFormat | RegisteredFormat, source: Source) -> Mapping[str, Any]:
    """What the JVM needs to know to take the frame off."""
    known: dict[str, Any] = {"header": header_of(source)}
    if isinstance(form, AvroFormat) and form.reader and _frame(form) == "single_object":
        known["schema"] = schema_text(parse_avro(form.reader))
    if isinstance(form, ProtobufFormat) and form.reader and _frame(form) in ("confluent", "glue"):
        known["message"], known["places"] = places_of(form)
    return known
