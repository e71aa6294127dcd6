"""Lags: how far each partition is behind, and which offsets an open transaction holds back."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.offsets.lag import Lag, lags, unread_from
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicPartition
from sluice.progress.resources import PipelineResources


def held_back_partitions(resources: PipelineResources, state: KafkaState) -> list[str]:
    """One sentence for each partition that an open transaction holds back."""
    since = resources.kafka.open_since(state.logs)
    found = lags({}, state.logs, {}, resources.clock.now(), since)
    return [each.waiting for each in found if each.waiting]


def read_lags(
    resources: PipelineResources, cursor: Mapping[TopicPartition, int], state: KafkaState
) -> list[Lag]:
    """The lag of every partition that the cursor or the cluster knows, in order."""
    behind = unread_from(cursor, state.logs)
    return lags(
        cursor,
        state.logs,
        resources.kafka.timestamps(behind),
        resources.clock.now(),
        resources.kafka.open_since(state.logs),
        resources.kafka.retentions({each.topic for each in behind}),
    )


def unknown_times(found: list[Lag]) -> list[str]:
    """One sentence for each topic whose records are also deleted by size."""
    sized = {e.partition.topic for e in found if e.records and e.retention and e.retention.by_size}
    return [
        f"{topic}: time to loss is unknown: retention.bytes is set, and deletes by size, not age"
        for topic in sorted(sized)
    ]
