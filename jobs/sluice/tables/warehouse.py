"""The warehouse: the only place where a table's path is built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Warehouse:
    """The root below which all tables live: a local path."""

    root: str

    def data(self, table: str) -> str:
        """Where the data table is."""
        return self._below(table)

    def quarantine(self, table: str) -> str:
        """Where the table's quarantined records are."""
        return self._below(f"{table}__quarantine")

    def offsets(self, table: str) -> str:
        """Where the table's planned and committed offset ranges are."""
        return self._below(f"{table}__offsets")

    @property
    def offsets_version_1(self) -> str:
        """Where version 1 had one offsets table for all pipelines."""
        return self._below("_sluice/offsets")

    def _below(self, name: str) -> str:
        # Spark resolves a relative path in its own working directory: return only absolute ones.
        return str(Path(self.root).resolve() / name)
