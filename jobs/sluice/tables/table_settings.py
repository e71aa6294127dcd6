"""Table settings: the properties and column comments that a table has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sluice.tables.table_files import open_table


@dataclass(frozen=True)
class TableSettings:
    """A table's properties, and each column's comment: none where it has none."""

    properties: Mapping[str, str]
    comments: Mapping[str, str]

    def lacking_properties(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """Those of some properties that the table has not, or otherwise."""
        return {key: each for key, each in wanted.items() if self.properties.get(key) != each}

    def lacking_comments(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """Those of some comments that the table has not, or otherwise.

        A column that is not there yet comes with the next batch.
        """
        return {
            name: each
            for name, each in wanted.items()
            if name in self.comments and self.comments[name] != each
        }


def table_settings(uri: str) -> TableSettings:
    """The settings of a table as it is now. Raises what `open_table` does."""
    table = open_table(uri)
    fields = json.loads(table.schema().to_json())["fields"]
    comments = {each["name"]: each["metadata"].get("comment", "") for each in fields}
    return TableSettings(table.metadata().configuration, comments)
