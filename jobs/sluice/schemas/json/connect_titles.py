"""Connect's titles: types that its converter names in the schema of an event. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.columns.change_events import AFTER
from sluice.columns.connect_types import ConnectType, connect_type
from sluice.schemas.json_texts import as_json
from sluice.schemas.registered import RegisteredSchema


def connect_types(event: RegisteredSchema) -> Mapping[str, ConnectType]:
    """By the fields of the row that events of this schema are about."""
    found = {}
    for row in _parts(_properties(as_json(event.text)).get(AFTER)):
        for name, schema in _properties(row).items():
            for part in _parts(schema):
                known = connect_type(part.get("title"), part.get("connect.parameters"))
                if known is not None:
                    found[name] = known
    return found


def _properties(schema: Any) -> Mapping[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema, and those beside null where it may be null."""
    if isinstance(schema, dict):
        yield schema
        others = schema.get("oneOf")
        yield from (each for each in (others or ()) if isinstance(each, dict))
