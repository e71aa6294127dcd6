"""A plain streaming job: Structured Streaming with `availableNow` into Delta.

    spark-submit local/bench/stream_job.py BOOTSTRAP TOPIC TABLE CHECKPOINT SCHEMA

From the earliest offset to the end as it is at the start; then the job ends.
"""

from __future__ import annotations

import sys

from plain_job import rows_of
from pyspark.sql import SparkSession


def main(bootstrap: str, topic: str, table: str, checkpoint: str, schema: str) -> None:
    """Read all that is there and append it to the table."""
    spark = SparkSession.builder.appName("available_now").getOrCreate()
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    query = (
        rows_of(records, schema, "json")
        .writeStream.format("delta")
        .outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start(table)
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
