"""Questions: what a start position may ask Kafka, or the files that another system has left."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from sluice.planning.ranges import TopicPartition


class StartQuestions(Protocol):
    """What a start position may ask."""

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset at or after a moment; None where no record is that late."""

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""

    def checkpoint_ends(self, folder: str) -> Mapping[TopicPartition, int]:
        """Where the last committed batch of a Structured Streaming query ended."""

    def last_written(self, table: str, app_id: str | None) -> Mapping[int, int]:
        """The last offset that kafka-delta-ingest has written, by partition."""
