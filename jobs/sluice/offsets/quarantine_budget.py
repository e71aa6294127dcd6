"""The quarantine budget: how many records of a batch may be undecodable. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.offsets.batches import Lane
from sluice.offsets.quantities import format_count
from sluice.offsets.quarantine_tickets import JudgedRecords

FEW_RECORDS = 10
"""How many a batch may have in any case, by default: one record of a small one is a large share."""


@dataclass(frozen=True)
class QuarantineBudget:
    """What a batch may have undecodable: a share of its records, or so many, whichever is more."""

    max_ratio: float
    max_records: int

    def for_lane(self, lane: Lane) -> QuarantineBudget:
        """What a batch of this lane may have: what is read again below the cursor may have been
        rows before, so only a share of it is allowed.
        """
        return self if lane == "forward" else replace(self, max_records=0)

    def refuses(self, judged: JudgedRecords) -> bool:
        """Whether the undecodable records exceed both limits."""
        count, records = judged.undecodable, judged.records
        return count > self.max_records and count / max(records, 1) > self.max_ratio

    def __str__(self) -> str:
        """The limits that allow something, each with its key."""
        share = f"{self.max_ratio:.2%} (quarantine.max_ratio)"
        if not self.max_records:
            return share
        return f"{share} or {format_count(self.max_records, 'record')} (quarantine.max_records)"
