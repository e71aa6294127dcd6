"""Connect's titles: types that its converter names in a JSON schema. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sluice.columns.connect_types import ConnectType, connect_type
from sluice.schemas.json_texts import as_json
from sluice.schemas.registered import RegisteredSchema


def connect_types(schema: RegisteredSchema, within: str | None) -> Mapping[str, ConnectType]:
    """By the fields of the record, or of what its field `within` holds."""
    record, found = as_json(schema.text), {}
    for row in _parts(record if within is None else _properties(record).get(within)):
        for name, field in _properties(row).items():
            for part in _parts(field):
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
