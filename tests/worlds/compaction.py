"""Compaction: topics for Kafka's log cleaner, and the wait until it has compacted them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.oracle import read_truth
from tests.worlds.records import admin, produce

COMPACTED = {
    "cleanup_policy": "compact",
    "segment_ms": 100,
    "min_cleanable_dirty_ratio": 0.001,
    "delete_retention_ms": 0,
    # The cleaner waits for `compact`.
    "min_compaction_lag_ms": 3_600_000,
}


def _let_compact(bootstrap: str, topic: str) -> None:
    entry = ConfigEntry("min.compaction.lag.ms", "0", incremental_operation=AlterConfigOpType.SET)
    requested = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client = admin(bootstrap)
    client.incremental_alter_configs([requested], request_timeout=15)[requested].result(20)


def compact(bootstrap: str, topics: Sequence[str]) -> None:
    """Let the cleaner come, roll the segments, and wait until it has removed records and is done.

    They are topics made with COMPACTED: what it finds is counted before it may come.
    """

    def sizes() -> list[int]:
        found = read_truth(bootstrap, topics).partitions.values()
        return [len(next(each for each in found if each.topic == name).offsets) for name in topics]

    history = [sizes()]
    for name in topics:
        _let_compact(bootstrap, name)
    for number in range(30):
        for name in topics if number < 2 else []:
            produce(bootstrap, name, [b"roll"], key=b"roll-%d" % number)
        time.sleep(1.5)
        history.append(sizes())
        shrunk = all(now < first for now, first in zip(history[-1], history[0], strict=True))
        if shrunk and history[-1] == history[-2]:
            return
    raise AssertionError(f"the cleaner did not come: {history}")
