"""A raw reader: librdkafka to Arrow to Parquet, without decoding, commit or proof.

    python local/bench/raw_reader.py BOOTSTRAP TOPIC ENDS FILE

ENDS (JSON: partition → end) names the partitions; they hold no record beyond.
"""

from __future__ import annotations

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, Message, TopicPartition

SCHEMA = pa.schema(
    {
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("ms", "UTC"),
        "key": pa.binary(),
    }
)
AT_ONCE = 10_000
ROWS_OF_A_GROUP = 200_000


def main(bootstrap: str, topic: str, ends: str, file: str) -> None:
    """Read until every partition has reached its end."""
    left = {int(number): end for number, end in json.loads(ends).items()}
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench-raw-limit",
            "enable.auto.commit": False,
            "queued.min.messages": 1_000_000,
            "fetch.message.max.bytes": 10_000_000,
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in left])
    missing, batches = sum(left.values()), []
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        while missing:
            read = [each for each in consumer.consume(AT_ONCE, timeout=1) if not each.error()]
            missing -= len(read)
            batches.append(columns(read))
            if sum(map(len, batches)) >= ROWS_OF_A_GROUP or not missing:
                writer.write_table(pa.Table.from_batches(batches))
                batches = []
    consumer.close()


def columns(read: list[Message]) -> pa.RecordBatch:
    """The records, column by column."""
    arrays = [
        [each.value() for each in read],
        [each.topic() for each in read],
        [each.partition() for each in read],
        [each.offset() for each in read],
        [each.timestamp()[1] for each in read],
        [each.key() for each in read],
    ]
    return pa.record_batch(
        [pa.array(array, field.type) for array, field in zip(arrays, SCHEMA, strict=True)],
        schema=SCHEMA,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
