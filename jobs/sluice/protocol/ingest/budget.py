"""The quarantine budget: how many undecodable records a batch may have before it fails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sluice.errors import TooManyQuarantined, as_lines
from sluice.lake.port import BatchAttempt, QuarantineResult
from sluice.moves import Advice, Move, advice
from sluice.offsets.batches import BatchSequence
from sluice.offsets.quarantine_tickets import JudgedRecords
from sluice.offsets.quarantined import QuarantinedRecord, RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class QuarantineRatio:
    """How many of a batch's records were quarantined."""

    batch: str
    records: int
    quarantined: int

    @property
    def ratio(self) -> float:
        """Quarantined records over all records; 0 for a batch without records."""
        total = self.records + self.quarantined
        return self.quarantined / total if total else 0.0


def judged_records(
    resources: PipelineResources, attempt: BatchAttempt, found: QuarantineResult
) -> JudgedRecords:
    """What counts against the spec's budget; records quarantined before do not count again."""
    attempt = replace(attempt, undecodable=found.undecodable)
    count = _newly_quarantined(resources, attempt) if attempt.replaces else found.undecodable
    return JudgedRecords(found.records, count)


def too_many_quarantined(
    resources: PipelineResources,
    attempt: BatchAttempt,
    judged: JudgedRecords,
    samples: Iterable[str],
) -> TooManyQuarantined:
    """The refusal of an attempt, with samples and the next move."""
    allowed = resources.spec.quarantine.budget.for_lane(attempt.batch.sequence.lane)
    return TooManyQuarantined(
        as_lines(
            [
                f"{attempt}: {judged.undecodable} of {judged.records} records are undecodable"
                f"{', and were not before' if attempt.replaces else ''}; allowed: {allowed}."
                " Nothing was committed. Samples:",
                *samples,
                advice(
                    Move("quarantine list", (resources.spec.pipeline,)),
                    " shows all reasons. Correct the schema in the spec, or raise one of the two"
                    " limits, and ",
                    _again(attempt.batch.sequence),
                ),
            ]
        )
    )


def _again(sequence: BatchSequence) -> Advice:
    """How the same batch is tried once more."""
    if sequence.lane == "forward":
        return Advice("run again.")
    return advice(
        "give the same command again: a run does not try it. ",
        Move("reset", (sequence.pipeline, "--shift-by", "0")),
        " gives it up.",
    )


def _newly_quarantined(resources: PipelineResources, attempt: BatchAttempt) -> int:
    """How many offsets the attempt quarantined that no earlier batch had quarantined."""
    ranges: dict[TopicIdPartition, list[OffsetRange]] = {}
    for each in attempt.batch.ranges:
        ranges.setdefault(each.place, []).append(each.offsets)
    rows = read_quarantined(resources, scope=OffsetScope.of_ranges(ranges)).rows
    known = {
        _coordinates(row) for row in rows if row.state in (RecordState.LIVE, RecordState.DROPPED)
    }
    added = resources.quarantine.snapshot().added_by(attempt.batch, attempt.aside)
    own = {(*place, offset) for place in added.places for offset in added.offsets(place).tolist()}
    return len(own - known)


def _coordinates(row: QuarantinedRecord) -> tuple[str, int, int]:
    return row.topic_id, row.partition.partition, row.offset
