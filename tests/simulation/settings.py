"""Settings: the pipeline's spec that a history begins with, and the topics that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STRICT = {"type": "json", "schema": "id BIGINT, extra INT"}
LOOSE = {"type": "json", "schema": "id BIGINT"}
RAW = {"type": "raw"}


@dataclass(frozen=True)
class Setting:
    """What a history begins with: partitions by topic, the topics that compact, the spec's keys."""

    topics: dict[str, int]
    compacting: frozenset[str]
    keys: dict[str, Any]

    def spec(self) -> dict[str, Any]:
        """The spec's keys, with the ordinary ones filled in."""
        return {
            "version": 1,
            "pipeline": "trips",
            "table": "trips",
            "topics": sorted(self.topics),
            "format": STRICT,
            "consumer_group": "sluice-trips",
            "max_records_per_batch": 1000,
            "quarantine": {"max_ratio": 1.0},
            **self.keys,
        }


def setting_of(number: int) -> Setting:
    """The setting with that number."""
    topics = ({"t": 1}, {"t": 3}, {"t": 1, "u": 2})[number % 3]
    compacting = frozenset({"t"} if number // 3 % 4 == 3 else ())
    keys: dict[str, Any] = {}
    if number // 12 % 2:
        keys["max_records_per_batch"] = 3
    if number // 24 % 2:
        keys["consumer_group"] = None
    if number // 48 % 2:
        keys["on_data_loss"] = "record"
    if number // 96 % 4 == 3:
        keys["format"] = RAW
    return Setting(topics, compacting, keys)
