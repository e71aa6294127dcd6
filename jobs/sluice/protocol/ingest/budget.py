"""The budget: how many records of a batch may be undecodable before it fails."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.errors import TooManyQuarantined, as_lines
from sluice.lake.port import BatchAttempt, QuarantineResult
from sluice.offsets.quarantined import QuarantinedRecord, RecordState
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class QuarantineRatio:
    """How many of a batch's records were undecodable, against what the spec allows."""

    batch: str
    records: int
    quarantined: int

    @property
    def ratio(self) -> float:
        """The undecodable part of all records; 0 for a batch without any."""
        total = self.records + self.quarantined
        return self.quarantined / total if total else 0.0


def require_within_budget(
    resources: PipelineResources, attempt: BatchAttempt, found: QuarantineResult
) -> None:
    """What was in quarantine before is no news: the budget is for what was not.

    Raises TooManyQuarantined with samples and the next move.
    """
    allowed = resources.spec.quarantine.max_ratio
    count = _newly_quarantined(resources, attempt) if attempt.replaces else found.undecodable
    if count <= allowed * found.records:
        return
    raise TooManyQuarantined(
        as_lines(
            [
                f"{attempt}: {count} of {found.records} records are undecodable"
                f"{', and were not before' if attempt.replaces else ''}; allowed: {allowed:.2%}"
                " (quarantine.max_ratio). Nothing was committed. Samples:",
                *found.samples,
                f"`sluice quarantine list {resources.spec.pipeline}` shows all reasons. Mend the"
                " schema in the spec, or raise quarantine.max_ratio, and run again.",
            ]
        )
    )


def _newly_quarantined(resources: PipelineResources, attempt: BatchAttempt) -> int:
    """How many offsets the attempt has put aside that no earlier batch had put aside."""
    rows = read_quarantined(resources).rows
    known = {
        _coordinates(row) for row in rows if row.state in (RecordState.LIVE, RecordState.DROPPED)
    }
    mine = {_coordinates(row) for row in rows if row.batch == str(attempt.batch)}
    return len(mine - known)


def _coordinates(row: QuarantinedRecord) -> tuple[str, int, int]:
    return row.topic_id, row.partition.partition, row.offset
