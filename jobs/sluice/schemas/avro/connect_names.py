"""Connect's names: what Connect and Debezium name a type, as the logical type that it means. Pure.

Connect's converter writes the names beside the types, as `connect.name`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sluice.schemas.registered import Reference, RegisteredSchema

_TIMES = "io.debezium.time"
_MEANT: Mapping[tuple[str, str], str] = {
    (f"{_TIMES}.Date", "int"): "date",
    (f"{_TIMES}.Time", "int"): "time-millis",
    (f"{_TIMES}.MicroTime", "long"): "time-micros",
    (f"{_TIMES}.NanoTime", "long"): "sluice-time-nanos",
    (f"{_TIMES}.Timestamp", "long"): "timestamp-millis",
    (f"{_TIMES}.MicroTimestamp", "long"): "timestamp-micros",
    (f"{_TIMES}.NanoTimestamp", "long"): "timestamp-nanos",
    (f"{_TIMES}.ZonedTimestamp", "string"): "sluice-timestamp-text",
    (f"{_TIMES}.IsoTimestamp", "string"): "sluice-timestamp-text",
    (f"{_TIMES}.IsoDate", "string"): "sluice-date-text",
    ("io.debezium.data.VariableScaleDecimal", "record"): "sluice-decimal-text",
}
"""By the name and the type that carries it; those that are Sluice's own Avro does not know."""


def meant(schema: RegisteredSchema) -> RegisteredSchema:
    """The schema whose types say what they are named. One that cannot be read stays as it is."""
    references = tuple(Reference(each.name, _text(each.text)) for each in schema.references)
    return replace(schema, text=_text(schema.text), references=references)


def _text(text: str) -> str:
    if "connect.name" not in text:
        return text
    try:
        return json.dumps(_named(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _named(found: Any) -> Any:
    match found:
        case list():
            return [_named(each) for each in found]
        case dict():
            kept = {key: each if key == "default" else _named(each) for key, each in found.items()}
            logical = _MEANT.get((str(found.get("connect.name")), str(found.get("type"))))
            return kept if logical is None else {"logicalType": logical, **kept}
    return found
