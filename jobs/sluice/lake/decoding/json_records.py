"""JSON decoding: each record's bytes as the declared columns, in one strict pass on the JVM.

Spark's `from_json` accepts invalid UTF-8, trailing content, wrapped integers, infinities and
re-rendered numbers, and tells of a value that does not fit only that the record has one.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.decoded_fields import refused

# Ours (jobs/jvm/json/JsonRecord.scala): the columns, RESCUED where asked for, and ERROR.
READ_JSON = "sluice_json"


class JsonRecords:
    """Records in JSON, as these columns.

    `body` are the bytes to decode; `refusal` is an error that is known before, null where there is
    none. `timestamp_unit` says what a TIMESTAMP's numbers count. With `rescue`, the members that
    are not declared are kept.
    """

    def __init__(
        self,
        fields: T.StructType,
        body: Column,
        timestamp_unit: str | None = None,
        refusal: Column | None = None,
        rescue: bool = False,
    ) -> None:
        self._fields = fields
        self._body = body
        self._refusal = refusal
        self._rescue = rescue
        self._read = F.call_function(
            READ_JSON,
            body,
            F.lit(fields.json()),
            F.lit(timestamp_unit or ""),
            F.lit(rescue),
        )

    def decode(self, records: DataFrame, into: str) -> DataFrame:
        """Add struct column `into`: the columns, `_rescued` where asked for, and `_error`.

        Not deterministic, or Spark would copy the reading into a filter on an error.
        """
        is_read = self._body.isNotNull() & (F.spark_partition_id() >= 0)
        decoded = F.when(is_read, self._read)
        if self._refusal is not None:
            wrong = refused(self._fields, self._refusal, self._rescue)
            decoded = F.when(self._refusal.isNotNull(), wrong).otherwise(decoded)
        return records.withColumn(into, decoded)
