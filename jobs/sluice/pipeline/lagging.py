"""Lagging: how far each partition is behind, as Kafka is now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from sluice.broker.kafka_reader import KafkaReader
from sluice.broker.kafka_state import KafkaState
from sluice.lag import Lag, lags
from sluice.pipeline.parts import Parts
from sluice.planning.ranges import TopicPartition


def read_lags(parts: Parts, cursor: Mapping[TopicPartition, int], state: KafkaState) -> list[Lag]:
    """The lag of every partition that the cursor or the cluster knows, in order."""
    starts = {each: cursor.get(each, log.log_start_offset) for each, log in state.logs.items()}
    behind = {
        each: start for each, start in starts.items() if start < state.logs[each].last_stable_offset
    }
    reader = KafkaReader(parts.client)
    return lags(
        cursor,
        state.logs,
        reader.timestamps(behind),
        datetime.now(UTC),
        reader.open_since(state.logs),
        parts.kafka.retentions({each.topic for each in behind}),
    )


def unknown_times(found: list[Lag]) -> list[str]:
    """A sentence for every topic whose records are also deleted by size."""
    sized = {e.partition.topic for e in found if e.records and e.retention and e.retention.by_size}
    return [
        f"{topic}: time to loss is unknown: retention.bytes is set, and no clock tells size"
        for topic in sorted(sized)
    ]
