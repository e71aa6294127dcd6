"""Origin: who writes a row of the offsets table, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Origin:
    """Who writes, or wrote, a row, and when: an Airflow run or a person at a terminal."""

    run_id: str
    actor: str
    at: datetime

    def __str__(self) -> str:
        return f"{self.actor}, {self.at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"

    def columns(self) -> dict[str, object]:
        """The origin's columns."""
        return {"run_id": self.run_id, "actor": self.actor, "recorded_at": self.at}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Origin:
        """The origin of a row read from the table."""
        return cls(row["run_id"], row["actor"], row["recorded_at"])


@dataclass(frozen=True)
class Caller:
    """Who runs the command, as the offsets table records it."""

    run_id: str
    actor: str
