"""A plain batch job: a read of a fixed range, and an append to Delta.

    spark-submit local/bench/plain_job.py BOOTSTRAP TOPIC ENDS TABLE [SCHEMA]

With a schema, `from_json` decodes the values; without one, they are stored unchanged.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

ENVELOPE = ("topic", "partition", "offset", "timestamp", "key", "headers")


def rows_of(records: DataFrame, schema: str | None) -> DataFrame:
    """The rows to store: the decoded fields, or the value, and the envelope."""
    if schema is None:
        return records.select("value", *ENVELOPE)
    value = F.from_json(F.col("value").cast("string"), schema)
    return records.select(value.alias("value"), *ENVELOPE).select("value.*", *ENVELOPE)


def main(bootstrap: str, topic: str, ends: str, table: str, schema: str | None = None) -> None:
    """Read `[0, end)` of every partition and append it to the table."""
    starts = {topic: dict.fromkeys(json.loads(ends)[topic], 0)}
    spark = SparkSession.builder.appName("plain").getOrCreate()
    records = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("assign", json.dumps({topic: sorted(map(int, starts[topic]))}))
        .option("startingOffsets", json.dumps(starts))
        .option("endingOffsets", ends)
        .option("includeHeaders", "true")
        .load()
    )
    rows_of(records, schema).write.format("delta").mode("append").save(table)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
