"""Table settings: a table's properties and column comments, beside those wanted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.spec_file.table_properties import WIDENS_TYPES


@dataclass(frozen=True)
class TableSettings:
    """A table's properties, and each column's comment: empty where it has none.

    `not_null` are the places that must have a value, each a column's name and those of the fields
    below it; `computed` those whose values Delta makes or
    checks, each with how: a generated column, an identity.
    """

    properties: Mapping[str, str]
    comments: Mapping[str, str]
    not_null: tuple[tuple[str, ...], ...] = ()
    computed: Mapping[str, str] = field(default_factory=dict)

    @property
    def widens_types(self) -> bool:
        """Whether a write with a wider type widens the table's."""
        return self.properties.get(WIDENS_TYPES) == "true"

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
