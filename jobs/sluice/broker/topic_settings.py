"""Topic settings: what a topic's configuration means for its records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sluice.offsets.partition_log import Retention

TopicSettings = Mapping[str, str]


def compacts(settings: TopicSettings) -> bool:
    """Whether the cleanup policy compacts."""
    return "compact" in settings["cleanup.policy"]


def retention(settings: TopicSettings) -> Retention:
    """When Kafka deletes the topic's records."""
    if "delete" not in settings["cleanup.policy"]:
        return Retention(None)
    period, size = int(settings["retention.ms"]), int(settings["retention.bytes"])
    return Retention(timedelta(milliseconds=period) if period >= 0 else None, size >= 0)
