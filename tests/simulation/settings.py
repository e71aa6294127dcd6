"""Settings: the pipeline's spec that a history begins with, and the topics that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STRICT = {"type": "json", "schema": "id BIGINT, extra INT"}
LOOSE = {"type": "json", "schema": "id BIGINT"}
RAW = {"type": "raw"}
# Of histories with a state table: what orders the rows of a key, and what may be unavailable.
KEYED = {"type": "json", "schema": "id BIGINT, seq BIGINT, name STRING, extra INT"}
KEYED_LOOSELY = {"type": "json", "schema": "id BIGINT, seq BIGINT, name STRING"}
UNAVAILABLE, GONE = "__unavailable", "gone"
STATES: tuple[dict[str, Any], ...] = (
    {},
    {"key": ["_key"]},
    {"key": ["_key"], "order_by": ["seq"], "deleted_when": f"name = '{GONE}'"},
    {"key": ["id"], "order_by": ["seq"], "unkeyed": "ignore", "unavailable": UNAVAILABLE},
    {"key": ["id"], "deleted_when": f"name = '{GONE}'", "unavailable": UNAVAILABLE},
)
PLAIN_SETTINGS = 384
"""How many settings there are without a state table; as many follow for each of `STATES`."""


@dataclass(frozen=True)
class Setting:
    """What a history begins with: partitions by topic, the topics that compact, the spec's keys."""

    topics: dict[str, int]
    compacting: frozenset[str]
    keys: dict[str, Any]

    @property
    def has_state(self) -> bool:
        """Whether there is a state table."""
        return "state" in self.keys

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
    if state := STATES[number // PLAIN_SETTINGS % len(STATES)]:
        keys |= _keyed(state, several=len(topics) > 1, is_raw="format" in keys)
    return Setting(topics, compacting, keys)


def _keyed(state: Mapping[str, Any], several: bool, is_raw: bool) -> dict[str, Any]:
    """The spec's keys for a state table; rows of two topics may be alike in all but the topic."""
    if is_raw:
        return {"state": {"key": ["_key"], "unkeyed": "ignore"}}
    also = {"order_by": ["seq", "_topic"]} if several and "order_by" in state else {}
    return {"format": KEYED, "state": {**state, **also}}
