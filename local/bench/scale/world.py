"""A world: a pipeline whose tables were written in bulk, and the topic that it reads.

Batch n covers `[n-1, n)` of every partition, so a whole history is arithmetic. One record of a
thousand is in quarantine. The tables are those of a maintained pipeline: old data in a file a day,
the newest batches in a file each, a checkpoint, and the commits of the last thirty days.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.pipeline import Pipeline, open_pipeline
from sluice.settings import Settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.offsets_schema import SCHEMA

from local.embedded.topics import create_topic

Numbers = npt.NDArray[np.int64]
EVERY = timedelta(minutes=10)
A_DAY = 144
_QUARANTINED = 1_000
# The controller refuses very large requests.
_PARTITIONS_AT_ONCE = 2_000
_GAPS = ("gaps", "gap_control", "gap_aborted", "gap_compacted", "gap_lost")


@dataclass(frozen=True)
class World:
    """One pipeline: how many batches it has landed, of how many partitions.

    `links` more files of the data table are links to one file: nothing reads their rows.
    """

    warehouse: Path
    bootstrap: str
    pipeline: str
    topic: str
    partitions: int
    batches: int
    links: int = 0

    @property
    def spec(self) -> PipelineSpec:
        """The pipeline's spec."""
        return PipelineSpec.model_validate(
            {
                "version": 1,
                "pipeline": self.pipeline,
                "topics": [self.topic],
                "table": self.pipeline,
                "format": {"type": "raw"},
            }
        )

    def open(self) -> Pipeline:
        """The product's pipeline over these tables."""
        settings = Settings(str(self.warehouse), self.warehouse)
        return open_pipeline(self.spec, settings, {"bootstrap.servers": self.bootstrap})

    @property
    def sequence(self) -> BatchSequence:
        """The only sequence."""
        return BatchSequence(self.pipeline, "forward", 1)

    def batch(self, number: int, cluster_id: str, topic_id: str) -> Batch:
        """One of the batches."""
        ranges = tuple(
            PlannedRange(
                OffsetRange(TopicPartition(self.topic, at), number - 1, number),
                topic_id,
                0,
                number,
                0,
            )
            for at in range(self.partitions)
        )
        return Batch(self.sequence, number, "append", cluster_id, ranges)

    def coordinates(self, first: int, last: int) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_]]:
        """Batch number, partition and whether it is quarantined, of each record of some batches."""
        numbers = np.repeat(np.arange(first, last + 1, dtype=np.int64), self.partitions)
        partitions = np.tile(np.arange(self.partitions, dtype=np.int64), last - first + 1)
        return numbers, partitions, (numbers * self.partitions + partitions) % _QUARANTINED == 7


def _delivered(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        raise KafkaException(error)


def produce(bootstrap: str, topic: str, partitions: int, each: int) -> None:
    """Write this many records to each partition."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 20, "queue.buffering.max.messages": 2_000_000}
    )
    for number in range(partitions * each):
        while True:
            try:
                producer.produce(topic, b"x", None, number % partitions, on_delivery=_delivered)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def new_topic(bootstrap: str, topic: str, partitions: int, records: int) -> None:
    """A topic with this many records in each partition."""
    first = min(partitions, _PARTITIONS_AT_ONCE)
    create_topic(bootstrap, topic, first, {"retention.ms": "-1"})
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for _, last in chunks(first + 1, partitions, _PARTITIONS_AT_ONCE):
        grown = admin.create_partitions([NewPartitions(topic, last)], operation_timeout=60)
        grown[topic].result(timeout=90)
    while len(admin.list_topics(topic, timeout=60).topics[topic].partitions) < partitions:
        time.sleep(0.5)
    produce(bootstrap, topic, partitions, records)


@dataclass(frozen=True)
class Ids:
    """The ids of the cluster, the topic and the data table."""

    cluster: str
    topic: str
    table: str


def offsets_rows(
    world: World, event: str, first: int, last: int, ids: Ids, now: datetime
) -> pa.Table:
    """The rows of an event for some batches, as the product writes them."""
    numbers, partitions, quarantined = world.coordinates(first, last)
    seconds = (world.batches - numbers) * int(EVERY.total_seconds())
    columns = {
        **_constants(world, event, ids, len(numbers)),
        "batch_id": pa.array(numbers),
        "batch": batch_names(numbers),
        "partition": pa.array(partitions),
        "start_offset": pa.array(numbers - 1),
        "end_offset": pa.array(numbers),
        "last_stable_offset": pa.array(numbers),
        "recorded_at": pa.array(
            np.datetime64(now.replace(tzinfo=None), "us") - seconds.astype("timedelta64[s]")
        ).cast(SCHEMA.field("recorded_at").type),
    }
    if event == "committed":
        columns |= {
            "records": pa.array(1 - quarantined.astype(np.int64)),
            "quarantined": pa.array(quarantined.astype(np.int64)),
            "data_version": pa.array(numbers),
            **_same(len(numbers), dict.fromkeys(_GAPS, 0)),
        }
    nothing = pa.nulls(len(numbers))
    arrays = [columns.get(each.name, nothing).cast(each.type) for each in SCHEMA]
    return pa.table(arrays, schema=SCHEMA)


def _constants(world: World, event: str, ids: Ids, rows: int) -> dict[str, pa.Array]:
    values = {
        "format_version": 2,
        "pipeline": world.pipeline,
        "lane": "forward",
        "generation": 1,
        "event": event,
        "mode": "append",
        "topic": world.topic,
        "topic_id": ids.topic,
        "log_start_offset": 0,
        "leader_epoch": 0,
        "cluster_id": ids.cluster,
        "data_table_id": ids.table,
        "run_id": "bench",
        "actor": "bench",
    }
    return _same(rows, values)


def _same(rows: int, values: dict[str, object]) -> dict[str, pa.Array]:
    return {name: pa.repeat(pa.scalar(value), rows) for name, value in values.items()}


def batch_names(numbers: Numbers) -> pa.Array:
    """The names of batches of the only sequence."""
    return pc.binary_join_element_wise("forward-1", pa.array(numbers).cast(pa.string()), "-")


def chunks(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    """The numbers from first to last, at most `size` at a time."""
    for start in range(first, last + 1, size):
        yield start, min(start + size - 1, last)


def utc_now() -> datetime:
    """The time of day, without fractions."""
    return datetime.now(UTC).replace(microsecond=0)
