"""Waiting: which offsets an open transaction keeps from being planned, and since when."""

from __future__ import annotations

from datetime import UTC, datetime

from sluice.broker.kafka_reader import KafkaReader
from sluice.lag import lags
from sluice.pipeline.parts import Parts


def waiting(parts: Parts) -> list[str]:
    """A sentence for every partition that an open transaction holds back, as Kafka is now."""
    logs = parts.kafka.state(parts.spec).logs
    since = KafkaReader(parts.client).open_since(logs)
    found = lags({}, logs, {}, datetime.now(UTC), since)
    return [each.waiting for each in found if each.waiting]
