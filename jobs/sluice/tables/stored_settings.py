"""Stored settings: what a Delta table has beside its columns' names and types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deltalake import DeltaTable

from sluice.spec_file.table_settings import TableSettings

# Keys of a field's metadata (Delta's PROTOCOL.md), by what makes its values.
_COMPUTED = {
    "delta.generationExpression": "generated as",
    "delta.identity.start": "an identity from",
    # From before CHECK constraints.
    "delta.invariants": "held to",
}


def stored_settings(table: DeltaTable) -> TableSettings:
    """The table's settings, at the version that it was opened at."""
    fields = json.loads(table.schema().to_json())["fields"]
    comments = {each["name"]: each["metadata"].get("comment", "") for each in fields}
    computed = {
        each["name"]: f"{made} {each['metadata'][key]}"
        for each in fields
        for key, made in _COMPUTED.items()
        if key in each["metadata"]
    }
    not_null = tuple(_not_null(fields))
    return TableSettings(table.metadata().configuration, comments, not_null, computed)


def _not_null(
    fields: list[Mapping[str, Any]], below: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    for each in fields:
        place, kind = (*below, each["name"]), each["type"]
        if not each["nullable"]:
            yield place
        if isinstance(kind, Mapping) and kind.get("type") == "struct":
            yield from _not_null(kind["fields"], place)
