"""Events as Debezium writes them (tests/worlds/debezium/README.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.schemas.registered import RegisteredSchema

_LINES = (Path(__file__).parent / "debezium" / "events.jsonl").read_text(encoding="utf-8")
EVENTS: Mapping[str, Mapping[str, Any]] = {
    each["name"]: each for each in map(json.loads, _LINES.splitlines())
}


def event(name: str, wrapped: bool = False) -> bytes | None:
    """The value of this name; None for a tombstone."""
    found = EVENTS[name]["wrapped" if wrapped else "plain"]
    return None if found is None else str(found).encode()


def registered_json() -> RegisteredSchema:
    """The schema of events, as Connect's converter for JSON Schema registers it."""
    times = "io.debezium.time"
    variable = {
        "type": "object",
        "title": "io.debezium.data.VariableScaleDecimal",
        "properties": {
            "scale": {"type": "integer", "connect.type": "int32"},
            "value": {"type": "string", "connect.type": "bytes"},
        },
    }
    decimal = {
        "type": "number",
        "title": "org.apache.kafka.connect.data.Decimal",
        "connect.type": "bytes",
        "connect.parameters": {"scale": "2"},
    }
    row = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "connect.type": "int64"},
            "amount": _optional(decimal),
            "free": _optional(variable),
            "born": _optional({"type": "integer", "title": f"{times}.Date"}),
            "at_us": _optional({"type": "integer", "title": f"{times}.MicroTimestamp"}),
            "zoned": _optional({"type": "string", "title": f"{times}.ZonedTimestamp"}),
        },
    }
    parts = {"before": _optional(row), "after": _optional(row), "op": {"type": "string"}}
    source = {"type": "object", "properties": {"ts_ms": {"type": "integer"}}}
    text = json.dumps({"type": "object", "properties": {**parts, "source": source}})
    return RegisteredSchema("1", "JSON", text)


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, schema]}
