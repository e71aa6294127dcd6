"""A plain batch job: a read of a fixed range, and an append to Delta.

    spark-submit local/bench/plain_job.py BOOTSTRAP TOPIC ENDS TABLE [SCHEMA [FORMAT]]

With a schema, the values are decoded, as JSON if nothing else is said; without one, they are stored
unchanged.
"""

from __future__ import annotations

import json
import sys

# Beside this file: spark-submit puts its folder first on the path.
from plain_formats import decoded
from pyspark.sql import DataFrame, SparkSession

ENVELOPE = ("topic", "partition", "offset", "timestamp", "key", "headers")


def rows_of(records: DataFrame, schema: str | None, form: str) -> DataFrame:
    """The rows to store: the decoded fields, or the value, and the envelope."""
    there = records.select("value", *ENVELOPE)
    return there if schema is None else decoded(there, form, schema)


def main(
    bootstrap: str,
    topic: str,
    ends: str,
    table: str,
    schema: str | None = None,
    form: str = "json",
) -> None:
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
    rows_of(records, schema, form).write.format("delta").mode("append").save(table)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
