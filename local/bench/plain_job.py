"""A plain job into Delta: a batch read of a fixed range, or a stream that ends.

    spark-submit local/bench/plain_job.py batch BOOTSTRAP TOPIC TABLE ENDS [SCHEMA FORMAT]
    spark-submit local/bench/plain_job.py stream BOOTSTRAP TOPIC TABLE CHECKPOINT SCHEMA

With a schema, the values are decoded; without one, they are stored unchanged. The stream is
Structured Streaming with `availableNow`: from the earliest offset to the end as it is at the start.

Spark has no `from_protobuf` here (its module is not in the registries): a plain job has Python
parse the messages.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

ENVELOPE = ("topic", "partition", "offset", "timestamp", "key", "headers")


def decoded(records: DataFrame, form: str, schema: str) -> DataFrame:
    """The records with their decoded columns, null where it fails, instead of `value`.

    The value's bytes have no frame; `schema` is the columns' DDL, an Avro schema, or a descriptor
    set in base64.
    """
    others = [each for each in records.columns if each != "value"]
    match form:
        case "avro":
            from pyspark.sql.avro.functions import from_avro

            value = from_avro("value", schema, {"mode": "PERMISSIVE"})
        case "json":
            value = F.from_json(F.col("value").cast("string"), schema)
        case "protobuf":
            return _parsed(records, others, base64.b64decode(schema))
        case _:
            return records
    return records.select(value.alias("value"), *others).select("value.*", *others)


def _parsed(records: DataFrame, others: list[str], descriptors: bytes) -> DataFrame:
    import pyarrow as pa
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import DecodeError
    from google.protobuf.message_factory import GetMessageClass

    kinds = {3: T.LongType(), 9: T.StringType(), 1: T.DoubleType(), 8: T.BooleanType()}
    arrow = {3: pa.int64(), 9: pa.string(), 1: pa.float64(), 8: pa.bool_()}
    (file,) = FileDescriptorSet.FromString(descriptors).file
    (message,) = file.message_type
    name = f"{file.package}.{message.name}"
    fields = [(each.name, each.type) for each in message.field]
    kept = [each for each in records.schema if each.name in others]
    columns = [T.StructField(each, kinds[kind]) for each, kind in fields]

    def parse(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pool = DescriptorPool()
        for each in FileDescriptorSet.FromString(descriptors).file:
            pool.Add(each)
        made = GetMessageClass(pool.FindMessageTypeByName(name))

        def row(value: bytes) -> object:
            try:
                return made.FromString(value)
            except DecodeError:
                return None

        for batch in batches:
            rows = [row(each) for each in batch.column("value").to_pylist()]
            found = [
                pa.array([getattr(each, field, None) for each in rows], arrow[kind])
                for field, kind in fields
            ]
            arrays = [*found, *(batch.column(each.name) for each in kept)]
            names = [*(field for field, _ in fields), *(each.name for each in kept)]
            yield pa.RecordBatch.from_arrays(arrays, names)

    return records.select("value", *others).mapInArrow(parse, T.StructType([*columns, *kept]))


def batch(
    bootstrap: str, topic: str, table: str, ends: str, schema: str = "", form: str = ""
) -> None:
    """Read `[0, end)` of every partition and append it to the table."""
    starts = {topic: dict.fromkeys(json.loads(ends)[topic], 0)}
    reader = SparkSession.builder.appName("plain").getOrCreate().read.format("kafka")
    records = (
        reader.option("kafka.bootstrap.servers", bootstrap)
        .option("assign", json.dumps({topic: sorted(map(int, starts[topic]))}))
        .option("startingOffsets", json.dumps(starts))
        .option("endingOffsets", ends)
        .option("includeHeaders", "true")
        .load()
    )
    rows = decoded(records.select("value", *ENVELOPE), form, schema)
    rows.write.format("delta").mode("append").save(table)


def stream(bootstrap: str, topic: str, table: str, checkpoint: str, schema: str) -> None:
    """Read all that is there and append it to the table."""
    reader = SparkSession.builder.appName("available_now").getOrCreate().readStream.format("kafka")
    records = (
        reader.option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    query = (
        decoded(records.select("value", *ENVELOPE), "json", schema)
        .writeStream.format("delta")
        .outputMode("append")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start(table)
    )
    query.awaitTermination()


def main(kind: str, *words: str) -> None:
    """One of the two jobs."""
    if kind == "batch":
        batch(*words)
    else:
        stream(*words)
    SparkSession.active().stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
