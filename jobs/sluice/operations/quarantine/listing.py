"""Listing: quarantined records by cause, a sample of each, and the newest batches' ratios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sluice.errors import SettingsError, SluiceError
from sluice.offsets.error_groups import ErrorGroup, group_errors
from sluice.offsets.quarantined import QuarantinedRecord, RecordFilter, RecordState
from sluice.progress.committed import newest_receipts
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import (
    Quarantined,
    Record,
    read_quarantined,
    read_records,
)
from sluice.progress.removable_rows import DeadRow, dead_rows
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_quarantine
from sluice.protocol.ingest.budget import QuarantineRatio

_NEWEST_BATCHES = 5
_STALE = (
    *(RecordState.SUPERSEDED, RecordState.ERASED),
    *(RecordState.UNDONE, RecordState.DROPPED),
)


@dataclass(frozen=True)
class QuarantineListing:
    """Groups of `live` records, and of those `waiting` for a commit; `stale` counts dead rows.

    `samples` holds the latest record of each group, if it is still there. Maintenance removes
    `removable` of the dead rows now, and the last of them from `removable_from` on. `altered` says
    what others did to the table, if it is no longer what was committed.
    """

    live: tuple[ErrorGroup, ...]
    waiting: tuple[ErrorGroup, ...]
    samples: Mapping[QuarantinedRecord, Record]
    ratios: tuple[QuarantineRatio, ...]
    stale: int
    removable: int
    removable_from: datetime | None
    altered: str = ""


@dataclass(frozen=True)
class ChosenRecords:
    """Records as Kafka had them, and how many the filter chose in all.

    `waiting` are the records of batches that are not committed, which were not asked for, by batch.
    """

    records: tuple[Record, ...]
    chosen: int
    waiting: Mapping[str, int]


def list_quarantine(resources: PipelineResources) -> QuarantineListing:
    """Group the quarantined records by cause. Needs no JVM and no Kafka."""
    found = read_quarantined(resources)
    live, waiting = (
        group_errors(found.of(state)) for state in (RecordState.LIVE, RecordState.WAITING)
    )
    samples = read_records(resources, [each.sample for each in [*live, *waiting]])
    newest = newest_receipts(found.lane, _NEWEST_BATCHES)
    dead, now = _dead(resources, found), resources.clock.now()
    return QuarantineListing(
        tuple(live),
        tuple(waiting),
        {each.row: each for each in samples},
        tuple(QuarantineRatio(str(e.batch), e.records, e.quarantined) for e, _ in newest),
        len(found.of(*_STALE)),
        sum(each.is_removable(now) for each in dead),
        max((each.kept_until for each in dead if each.kept_until), default=None),
        _altered(found.lane),
    )


def _altered(lane: LaneState) -> str:
    try:
        check_quarantine(lane)
    except SluiceError as problem:
        return str(problem)
    return ""


def _dead(resources: PipelineResources, found: Quarantined) -> list[DeadRow]:
    try:
        return list(dead_rows(resources, found.rows))
    except SettingsError:
        # Its retention is too short to maintain the table at all; `sluice maintain` says so.
        return []


def choose_records(resources: PipelineResources, choice: RecordFilter, limit: int) -> ChosenRecords:
    """The first records that a filter chooses; of an uncommitted batch only if it names one."""
    found = read_quarantined(resources)
    waiting = found.of(RecordState.WAITING)
    rows = [*found.of(RecordState.LIVE), *(waiting if choice.batch else ())]
    chosen = sorted(row for row in rows if row in choice)
    left = Counter(row.batch for row in waiting if not choice.batch)
    return ChosenRecords(tuple(read_records(resources, chosen[:limit])), len(chosen), left)
