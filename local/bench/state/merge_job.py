"""The MERGE that people write: Structured Streaming's `availableNow` and `foreachBatch`.

    spark-submit local/bench/state/merge_job.py KIND BOOTSTRAP TOPIC FOLDER SCHEMA [kept]

KIND is `merge`, or `log-merge`, which appends every record to a table before: the log that Sluice
has as well. `kept`: every line that is read is one more turn of the same session, and is answered.
"""

from __future__ import annotations

import sys
from functools import partial

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

ENVELOPE = ("topic", "partition", "offset", "timestamp", "key", "headers")
COLUMNS = (
    "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, key BINARY, deleted BOOLEAN"
)
# An older change that comes late, or again, must not win.
MERGE = """
    MERGE INTO delta.`{state}` t USING newest s ON t.id = s.id
    WHEN MATCHED AND s.seq > t.seq THEN UPDATE SET *
    WHEN NOT MATCHED THEN INSERT *
"""


def merge(batch: DataFrame, number: int, folder: str, keeps_log: bool) -> None:
    """What `foreachBatch` calls: append the batch to the log, and its newest rows to the state."""
    if keeps_log:
        # Otherwise Kafka would be read twice.
        batch.persist()
        writer = batch.write.format("delta").mode("append")
        once = writer.option("txnAppId", folder).option("txnVersion", number)
        once.save(f"{folder}/log")
    place = F.row_number().over(Window.partitionBy("id").orderBy(F.desc("seq")))
    newest = batch.drop("headers").withColumn("place", place).where("place = 1").drop("place")
    newest.withColumn("deleted", F.col("op") == "d").createOrReplaceTempView("newest")
    batch.sparkSession.sql(MERGE.format(state=f"{folder}/state"))
    if keeps_log:
        batch.unpersist()


def take(
    spark: SparkSession, kind: str, bootstrap: str, topic: str, folder: str, schema: str
) -> None:
    """One turn: all that is there and has not been read."""
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS delta.`{folder}/state` ({schema}, {COLUMNS}) USING delta"
        " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    earliest = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    records = earliest.option("includeHeaders", "true").load()
    value = F.from_json(F.col("value").cast("string"), schema).alias("value")
    rows = records.select(value, *ENVELOPE).select("value.*", *ENVELOPE)
    batch = partial(merge, folder=folder, keeps_log=kind == "log-merge")
    query = (
        rows.writeStream.foreachBatch(batch)
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def main(kind: str, bootstrap: str, topic: str, folder: str, schema: str, kept: str = "") -> None:
    """One turn, or one for every line."""
    spark = SparkSession.builder.appName(kind).getOrCreate()
    if kept:
        for _ in sys.stdin:
            take(spark, kind, bootstrap, topic, folder, schema)
            print("taken", flush=True)
    else:
        take(spark, kind, bootstrap, topic, folder, schema)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
