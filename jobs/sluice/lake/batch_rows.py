"""Batch rows: how a batch's records become rows of the data and quarantine tables."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.decode import DECODED
from sluice.lake.decoding.strict_json import ERROR, UNSURE
from sluice.lake.port import BatchAttempt
from sluice.offsets.batches import Batch
from sluice.spec.formats import Format, Source

# Marks the error that stops a pass at the first undecodable record.
UNDECODABLE = "SLUICE-UNDECODABLE"

Forms = Mapping[Source, Format]
"""The format of the value, and of the key where keys are decoded."""

DATA_COLUMNS = (
    "_topic STRING, _topic_id STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP,"
    " _key BINARY, _headers ARRAY<STRUCT<key: STRING, value: BINARY>>,"
    " _tombstone BOOLEAN, _batch STRING"
)
QUARANTINE_COLUMNS = (
    "_topic STRING, _topic_id STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP,"
    " _key BINARY, _headers ARRAY<STRUCT<key: STRING, value: BINARY>>,"
    " value BINARY, error STRING, _batch STRING, quarantined_at TIMESTAMP"
)


def data_rows(decoded: DataFrame, forms: Forms, reading: BatchAttempt, exact: bool) -> DataFrame:
    """All records as rows of the data table; the pass fails at the first undecodable one."""
    # Mentioned once, the quick error lets Spark's optimizer do without the decoded struct.
    reason = error_of(forms) if exact else F.lit(UNSURE)
    refuse = F.raise_error(F.concat_ws(" ", F.lit(UNDECODABLE), _coordinates(), F.lit("-"), reason))
    checked = F.when(error_of(forms).isNull(), F.lit(str(reading))).otherwise(refuse)
    return _data(decoded, forms, reading, checked)


def decodable_rows(decoded: DataFrame, forms: Forms, reading: BatchAttempt) -> DataFrame:
    """The decodable records as rows of the data table; the others are left out."""
    return _data(decoded.where(error_of(forms).isNull()), forms, reading, F.lit(str(reading)))


def quarantine_rows(decoded: DataFrame, forms: Forms, reading: BatchAttempt) -> DataFrame:
    """The undecodable records as rows of the quarantine table."""
    return decoded.where(error_of(forms).isNotNull()).select(
        *_envelope(reading.batch),
        "value",
        error_of(forms).alias("error"),
        F.lit(str(reading)).alias("_batch"),
        F.current_timestamp().alias("quarantined_at"),
    )


def _data(
    decoded: DataFrame, forms: Forms, reading: BatchAttempt, batch_column: Column
) -> DataFrame:
    return decoded.select(
        *(F.col(DECODED["value"])[each.name].alias(each.name) for each in forms["value"].columns),
        *_envelope(reading.batch),
        F.col("value").isNull().alias("_tombstone"),
        batch_column.alias("_batch"),
        *(
            F.col(DECODED["key"])[each.name].alias(f"_key_{each.name}")
            for each in (forms["key"].columns if "key" in forms else ())
        ),
    )


def _envelope(batch: Batch) -> list[Column]:
    return [
        F.col("topic").alias("_topic"),
        _topic_id(batch).alias("_topic_id"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_timestamp"),
        F.col("key").alias("_key"),
        F.col("headers").alias("_headers"),
    ]


def _topic_id(batch: Batch) -> Column:
    if len(batch.topic_ids) == 1:
        return F.lit(next(iter(batch.topic_ids.values())))
    pairs = [F.lit(text) for pair in batch.topic_ids.items() for text in pair]
    return F.create_map(*pairs)[F.col("topic")]


def error_of(forms: Forms) -> Column:
    """Why a record is undecodable: its value's error, else its key's; null if decodable."""
    error = F.col(DECODED["value"])[ERROR]
    if "key" not in forms:
        return error
    return F.coalesce(error, F.concat(F.lit("key: "), F.col(DECODED["key"])[ERROR]))


def _coordinates() -> Column:
    return F.format_string("%s[%d]@%d", "topic", "partition", "offset")
