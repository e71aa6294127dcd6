"""Upkeep: what maintenance and the quarantine tools ask of the lake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sluice.planning.aside import Stretch


@dataclass(frozen=True)
class Compacted:
    """How many files went, and how many took their place."""

    removed: int
    added: int

    def __str__(self) -> str:
        return f"{self.removed} files compacted into {self.added}" if self.removed else "compact"


class Upkeep(Protocol):
    """How rows and files are taken out of the data and quarantine tables.

    Raises Conflicted, nothing changed, where somebody else committed in between.
    """

    def remove_quarantined(self, rows: Sequence[Stretch]) -> None:
        """Take rows out of the quarantine table, in one commit."""

    def compact(self, uri: str) -> Compacted:
        """Write a table's small files anew as few large ones; no row changes."""

    def vacuum(self, uri: str) -> None:
        """Delete files that the table has not named for as long as its retention."""
