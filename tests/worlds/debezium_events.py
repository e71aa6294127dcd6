"""Events as Debezium writes them (tests/worlds/debezium/README.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_LINES = (Path(__file__).parent / "debezium" / "events.jsonl").read_text(encoding="utf-8")
EVENTS: Mapping[str, Mapping[str, Any]] = {
    each["name"]: each for each in map(json.loads, _LINES.splitlines())
}


def event(name: str, wrapped: bool = False) -> bytes | None:
    """The value of this name; None for a tombstone."""
    found = EVENTS[name]["wrapped" if wrapped else "plain"]
    return None if found is None else str(found).encode()
