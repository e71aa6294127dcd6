"""Waiting records: what is in quarantine, by reason, and what a person can do about it. Pure.

Summed up when it is read, not when it is shown: a quarantine may have very many rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.cli.views.records import undecoded
from sluice.moves import YOUR_WORDS, Move
from sluice.offsets.error_groups import ErrorGroup
from sluice.offsets.quarantined import QuarantinedRecord
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged
from sluice.operations.quarantine.listing import QuarantineListing
from sluice.progress.quarantined_records import Record
from sluice.scheduling.run_params import LINES

# Reasons beyond these are counted, and the command lists them.
_SHOWN = 20
# So many reasons are told apart in each batch, the most frequent ones.
APART = 4


@dataclass(frozen=True)
class WaitingReason:
    """A reason, the records that it explains, one of them, and the commands about all of them."""

    text: str
    records: int
    first_seen: datetime
    last_seen: datetime
    partitions: tuple[TopicPartition, ...]
    sample: str
    replay: Move
    drop: Move


@dataclass(frozen=True)
class WaitingRecords:
    """All records that wait: how many, the most frequent reasons, how many more reasons there are.

    `by_batch` counts them by batch and place of their reason, APART for all others. `uncommitted`
    are records of batches that are planned and not committed: they do not count yet. `again` are
    the parameters of the pipeline's DAG that read them again; None where the form has no room for
    so many ranges. `listing` and `replay` are the commands about all of them.
    """

    records: int
    reasons: tuple[WaitingReason, ...]
    more: int
    by_batch: Mapping[str, Mapping[int, int]]
    uncommitted: int
    again: Mapping[str, object] | None
    listing: Move
    replay: Move


def waiting_records(pipeline: str, found: QuarantineListing) -> WaitingRecords:
    """What the quarantine table holds for a person to decide about."""
    return WaitingRecords(
        sum(len(each.rows) for each in found.live),
        tuple(_reason(pipeline, each, found.samples) for each in found.live[:_SHOWN]),
        max(0, len(found.live) - _SHOWN),
        _by_batch(found.live),
        sum(len(each.rows) for each in found.waiting),
        read_again_conf(row for each in found.live for row in each.rows),
        Move("quarantine list", (pipeline,)),
        Move("quarantine replay", (pipeline, "--all")),
    )


def read_again_conf(rows: Iterable[QuarantinedRecord]) -> Mapping[str, object] | None:
    """The parameters of the pipeline's DAG that show what reading these records again would do."""
    alone = (OffsetRange(each.partition, each.offset, each.offset + 1) for each in rows)
    ranges = [str(each) for each in merged(alone)]
    if not ranges or len(ranges) > LINES["maxItems"]:
        return None
    return {"dry_run": True, "reprocess_ranges": ranges}


def _by_batch(groups: Sequence[ErrorGroup]) -> Mapping[str, Mapping[int, int]]:
    found: dict[str, Counter[int]] = {}
    for at, group in enumerate(groups):
        for row in group.rows:
            found.setdefault(row.batch, Counter())[min(at, APART)] += 1
    return found


def _reason(
    pipeline: str, group: ErrorGroup, samples: Mapping[QuarantinedRecord, Record]
) -> WaitingReason:
    sample = samples.get(group.sample)
    text = group.text
    return WaitingReason(
        text,
        len(group.rows),
        group.first_seen,
        group.last_seen,
        tuple(group.partitions),
        f"{group.sample}: {undecoded(sample)}" if sample else str(group.sample),
        Move("quarantine replay", (pipeline, "--reason-like", text)),
        Move("quarantine drop", (pipeline, "--reason-like", text, "--reason", YOUR_WORDS)),
    )
