"""Recorded: who wrote something into the offsets table, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Recorded:
    """A person or a kind of run, and a moment."""

    actor: str
    at: datetime

    def __str__(self) -> str:
        return f"{self.actor}, {self.at.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"
