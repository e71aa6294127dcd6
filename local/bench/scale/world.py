"""A world: a pipeline whose tables were written in bulk, and the topic that it reads.

Batch n covers `[n-1, n)` of every partition, so a whole history is arithmetic. One record of a
thousand is in quarantine. The tables are those of a maintained pipeline: old data in a file a day,
the newest batches in a file each, a checkpoint, and the commits of the last thirty days.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path

import numpy as np
import numpy.typing as npt
from confluent_kafka.admin import AdminClient, NewPartitions
from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.pipeline import Pipeline, open_pipeline
from sluice.settings import Settings
from sluice.spec_file.pipeline_spec import PipelineSpec

from local.bench.records import send
from local.embedded.topics import create_topic

Numbers = npt.NDArray[np.int64]
A_DAY = 144
_QUARANTINED = 1_000
# The controller refuses very large requests.
_PARTITIONS_AT_ONCE = 2_000


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


def produce(bootstrap: str, topic: str, partitions: int, each: int) -> None:
    """Write this many records to each partition."""
    send(bootstrap, topic, partitions, repeat((None, "x"), partitions * each))


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


def chunks(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    """The numbers from first to last, at most `size` at a time."""
    for start in range(first, last + 1, size):
        yield start, min(start + size - 1, last)


def utc_now() -> datetime:
    """The time of day, without fractions."""
    return datetime.now(UTC).replace(microsecond=0)
