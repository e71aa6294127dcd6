"""The quarantine budget: how many records of a batch may be undecodable. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.offsets.quantities import format_count
from sluice.offsets.quarantine_tickets import JudgedRecords

FEW_RECORDS = 10
"""How many a batch may have in any case, by default: one record of a small one is a large share."""


@dataclass(frozen=True)
class QuarantineBudget:
    """What a batch may have undecodable: a share of its records, or so many, whichever is more."""

    max_ratio: float
    max_records: int

    def refuses(self, judged: JudgedRecords) -> bool:
        """Whether the undecodable records exceed both limits."""
        share, count = self.max_ratio * judged.records, judged.undecodable
        return count > share and count > self.max_records

    def __str__(self) -> str:
        """Both limits, each with its key."""
        records = format_count(self.max_records, "record")
        return f"{self.max_ratio:.2%} (quarantine.max_ratio) or {records} (quarantine.max_records)"
