"""Connect's names: what Connect and Debezium name a type, as the logical type that it means. Pure.

Connect's converter writes the names beside the types, as `connect.name`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sluice.columns.columns import Decimal
from sluice.columns.connect_types import connect_type
from sluice.schemas.json_texts import as_json
from sluice.schemas.registered import Reference, RegisteredSchema

_TIMES, _CONNECTS = "io.debezium.time", "org.apache.kafka.connect.data"
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
    (f"{_CONNECTS}.Date", "int"): "date",
    (f"{_CONNECTS}.Time", "int"): "time-millis",
    (f"{_CONNECTS}.Timestamp", "long"): "timestamp-millis",
}
"""By the name and the type that carries it; those that are Sluice's own Avro does not know."""


def meant(schema: RegisteredSchema) -> RegisteredSchema:
    """The schema whose types say what they are named. One that cannot be read stays as it is."""
    references = tuple(Reference(each.name, _text(each.text)) for each in schema.references)
    return replace(schema, text=_text(schema.text), references=references)


def named_types(schema: RegisteredSchema) -> Sequence[str]:
    """The names that mean something here, each once."""
    texts = (text for text in schema.texts.values() if "connect.name" in text)
    return [*dict.fromkeys(name for text in texts for name in _names(as_json(text)))]


def _names(found: Any) -> Iterator[str]:
    match found:
        case list():
            for each in found:
                yield from _names(each)
        case dict():
            known = connect_type(found.get("connect.name"), found.get("connect.parameters"))
            if known is not None:
                yield known.name
            for key, each in found.items():
                if key != "default":
                    yield from _names(each)


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
            return {**_meaning(found), **kept}
    return found


def _meaning(found: dict[str, Any]) -> dict[str, Any]:
    """What a type's name says that it does not say itself."""
    name, carrier = str(found.get("connect.name")), str(found.get("type"))
    known = connect_type(name, found.get("connect.parameters")) if carrier == "bytes" else None
    if known is not None and isinstance(known.column, Decimal):
        column = known.column
        return {"logicalType": "decimal", "precision": column.precision, "scale": column.scale}
    logical = _MEANT.get((name, carrier))
    return {} if logical is None else {"logicalType": logical}
