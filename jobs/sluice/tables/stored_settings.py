"""Stored settings: the properties and column comments that a Delta table has now."""

from __future__ import annotations

import json

from deltalake import DeltaTable

from sluice.spec.table_settings import TableSettings


def stored_settings(table: DeltaTable) -> TableSettings:
    """The table's settings, at the version that it was opened at."""
    fields = json.loads(table.schema().to_json())["fields"]
    comments = {each["name"]: each["metadata"].get("comment", "") for each in fields}
    return TableSettings(table.metadata().configuration, comments)
