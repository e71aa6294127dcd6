"""Batch rows: how a batch's records become rows of the data and quarantine tables."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.columns.names import KEY_PREFIX, quoted
from sluice.errors import SpecError
from sluice.lake.decoding.decode import DECODED
from sluice.lake.decoding.decoded_fields import ERROR, LACKING, RESCUED
from sluice.lake.port import BatchAttempt
from sluice.lake.write_failures import undecodable_mark
from sluice.offsets.batches import Batch
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_rules import TableRule
from sluice.spec_file.table_shape import TableShape

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

QUARANTINE_COLUMNS = (
    "_topic STRING, _topic_id STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP,"
    " _key BINARY, _headers ARRAY<STRUCT<key: STRING, value: BINARY>>,"
    " value BINARY, error STRING, _batch STRING, quarantined_at TIMESTAMP"
)


def judged_by_rules(
    decoded: DataFrame, spec: PipelineSpec, attempt: BatchAttempt, rules: Sequence[TableRule]
) -> DataFrame:
    """The records, with the rule of the table that each one's row breaks, such as a CHECK.

    Delta refuses a whole batch for one such row, so all of them are quarantined first, by name.
    """
    if not rules:
        return decoded.withColumn(_BROKEN, F.lit(None).cast("string"))
    carried = _Carried(decoded)
    rows = _data(decoded, spec, attempt, F.lit(str(attempt)), carried.column)
    return carried.beside(rows, _broken_rule(rules).alias(_BROKEN))


def marked_by(
    decoded: DataFrame, spec: PipelineSpec, attempt: BatchAttempt, condition: str, name: str
) -> DataFrame:
    """The records, and in a column of this name whether a condition over their fields lacks.

    One without a value, or that cannot be decoded, has no fields: it is not judged. If one
    lacks what it must have, a condition without an answer says nothing about it.
    """
    carried = _Carried(decoded)
    rows = _whole(decoded, spec, attempt, F.lit(str(attempt)), carried.column)
    has_fields = ~_is_tombstone() & _told(spec, ERROR).isNull()
    judged = carried.beside(rows, (~F.expr(condition)).alias(name))
    is_other = F.coalesce(F.col(name), _told(spec, LACKING).isNull())
    return judged.withColumn(name, has_fields & is_other)


_BROKEN = "_sluice_broken"


def _broken_rule(rules: Sequence[TableRule]) -> Column:
    """The first rule that a row of the data table breaks, in words; null for none.

    To Delta, too, a constraint without an answer is broken.
    """
    held = [(F.coalesce(F.expr(each.sql), F.lit(False)), each.broken) for each in rules]
    return F.coalesce(*(F.when(~kept, F.lit(why)) for kept, why in held))


class _Carried:
    """The records beside their rows, so that both are known at once: the row's rules, and what
    goes to quarantine.
    """

    def __init__(self, decoded: DataFrame) -> None:
        # No column of a table has this name.
        self._name = f"_sluice_{uuid.uuid4().hex}"
        columns = [F.col(quoted(name)) for name in decoded.columns]
        self.column = F.struct(*columns).alias(self._name)

    def beside(self, rows: DataFrame, found: Column) -> DataFrame:
        """The records again, beside what was found of their rows."""
        return rows.select(F.col(f"{self._name}.*"), found)


def data_rows(decoded: DataFrame, spec: PipelineSpec, attempt: BatchAttempt) -> DataFrame:
    """All records as rows of the data table; the pass fails at the first undecodable one."""
    error = error_of(spec)
    # What a record holds stays out of the text that Spark reports, and logs.
    reason = F.base64(F.encode(F.concat_ws(" ", _coordinates(), F.lit("-"), error), "UTF-8"))
    told = F.concat(F.lit(f"{undecodable_mark(attempt.id)} "), reason)
    checked = F.when(error.isNull(), F.lit(str(attempt))).otherwise(F.raise_error(told))
    return _data(decoded, spec, attempt, checked)


def decodable_rows(decoded: DataFrame, spec: PipelineSpec, attempt: BatchAttempt) -> DataFrame:
    """The decodable records as rows of the data table; the others are left out."""
    return _data(decoded.where(error_of(spec).isNull()), spec, attempt, F.lit(str(attempt)))


def quarantine_rows(
    decoded: DataFrame, spec: PipelineSpec, attempt: BatchAttempt, at: datetime
) -> DataFrame:
    """The undecodable records as rows of the quarantine table, all of one moment."""
    return decoded.where(error_of(spec).isNotNull()).select(
        *_envelope(attempt.batch),
        "value",
        error_of(spec).alias("error"),
        F.lit(str(attempt)).alias("_batch"),
        F.timestamp_micros(F.lit(micros(at))).alias("quarantined_at"),
    )


def micros(moment: datetime) -> int:
    """A moment as Spark stores it, whatever the session's time zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _data(
    decoded: DataFrame,
    spec: PipelineSpec,
    attempt: BatchAttempt,
    batch_column: Column,
    *beside: Column,
) -> DataFrame:
    return stored_part(_whole(decoded, spec, attempt, batch_column, *beside), spec.shape)


def _whole(
    decoded: DataFrame,
    spec: PipelineSpec,
    attempt: BatchAttempt,
    batch_column: Column,
    *beside: Column,
) -> DataFrame:
    """All that expressions may read: the fields, also those that are not kept, and our columns."""
    envelope = [*_envelope(attempt.batch), _is_tombstone().alias("_tombstone")]
    fields = [F.col(DECODED["value"])[each.name].alias(each.name) for each in spec.columns]
    keys = [
        F.col(DECODED["key"])[name.removeprefix(KEY_PREFIX)].alias(name)
        for name in (each.name for each in spec.formats.key_columns)
    ]
    rescued = [F.col(DECODED["value"])[RESCUED].alias(RESCUED)] if spec.rescue else []
    return decoded.select(
        *fields, *envelope, batch_column.alias("_batch"), *keys, *rescued, *beside
    )


def stored_part(whole: DataFrame, shape: TableShape) -> DataFrame:
    """The columns of the data table: fields, derived columns, then Sluice's own.

    Raises SpecError for an expression that Spark refuses.
    """
    if not shape.derived and len(shape.kept) == len(shape.fields):
        return whole
    ours = [F.col(quoted(name)) for name in whole.columns[len(shape.fields) :]]
    kept = [F.col(quoted(each.name)) for each in shape.kept]
    derived = [F.expr(each.sql).alias(each.name) for each in shape.added]
    try:
        found = whole.select(*kept, *derived, *ours)
        # A Spark Connect server looks at it only when asked.
        _ = found.schema
    except AnalysisException as problem:
        raise _refused(whole, shape, problem) from problem
    return found


def _refused(whole: DataFrame, shape: TableShape, problem: AnalysisException) -> SpecError:
    """Which of the derived columns Spark refuses, and why."""
    for each in shape.added:
        try:
            _ = whole.select(F.expr(each.sql)).schema
        except AnalysisException as why:
            problem = why
            break
    reason = str(problem).strip().splitlines()[0]
    return SpecError(
        f"derived.{each.name}: found {each.written}; Spark refuses it: {reason}. Write it in"
        " another way, or remove it."
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


def _is_tombstone() -> Column:
    """Whether a record has no value. The null that Connect writes is decoded to a null."""
    return F.col("value").isNull() | F.col(DECODED["value"]).isNull()


def _topic_id(batch: Batch) -> Column:
    if len(batch.topic_ids) == 1:
        return F.lit(next(iter(batch.topic_ids.values())))
    pairs = [F.lit(text) for pair in batch.topic_ids.items() for text in pair]
    return F.create_map(*pairs)[F.col("topic")]


def error_of(spec: PipelineSpec) -> Column:
    """Why a record is undecodable: its value's error, else its key's, else a rule of the table.

    Null if decodable.
    """
    lacking = [_told(spec, LACKING)] if spec.formats.apart else []
    return F.coalesce(_told(spec, ERROR), *lacking, F.col(_BROKEN))


def _told(spec: PipelineSpec, name: str) -> Column:
    """What the decoding says of a record under this name: of its value, else of its key."""
    told = F.col(DECODED["value"])[name]
    if spec.key_format is None:
        return told
    return F.coalesce(told, F.concat(F.lit("key: "), F.col(DECODED["key"])[name]))


def _coordinates() -> Column:
    return F.format_string("%s[%d]@%d", "topic", "partition", "offset")
