"""Counts what a step asks for: tables opened, requests to Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

from aiokafka.client import AIOKafkaClient
from confluent_kafka.admin import AdminClient
from deltalake import DeltaTable
from sluice.broker import group_offsets, reader

OPENS, REQUESTS = "opens", "requests"
_ADMIN = ("describe_cluster", "describe_topics", "list_offsets", "describe_configs", "list_topics")


def count_calls() -> Counter[str]:
    """From now on, every open and every request adds one; the bench's process only."""
    found: Counter[str] = Counter()
    _counted(DeltaTable, "__init__", found, OPENS)
    for name in _ADMIN:
        _counted(AdminClient, name, found, REQUESTS)
    _counted(AIOKafkaClient, "send", found, REQUESTS)
    for module in (group_offsets, reader):
        # A consumer asks for metadata and its coordinator, or for records.
        _counted(module, "Consumer", found, REQUESTS)
    return found


def _counted(owner: Any, name: str, found: Counter[str], what: str) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    @wraps(original)
    def counting(*given: Any, **named: Any) -> Any:
        found[what] += 1
        return original(*given, **named)

    setattr(owner, name, counting)
