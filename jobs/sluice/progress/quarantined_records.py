"""Quarantined records: the rows of the quarantine table, and which count. Does not ask Kafka.

A row counts until a later batch has a row of the same offset, or had one that was dropped or that
others deleted. So a batch over offsets that Kafka no longer held supersedes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from sluice.offsets.notation import parse_batch
from sluice.offsets.quarantined import QuarantinedRecord, RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, merged
from sluice.offsets.row_offsets import Offsets
from sluice.progress.committed import committed_ranges, losses_that_count, sequence_ends
from sluice.progress.erased import RangeToReread
from sluice.progress.evidence import Evidence
from sluice.progress.filtered_records import logged_filters, with_filtered
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.others_deletions import removed_by_others
from sluice.progress.reads import evidence_of
from sluice.progress.resources import PipelineResources
from sluice.progress.rows_alone import with_reads_of_rows_alone
from sluice.progress.sequence_end import SequenceEnd
from sluice.progress.set_aside import others_in
from sluice.tables.coordinates import COORDINATES, group_coordinates
from sluice.tables.stamped_rows import moments

_COLUMNS = [*COORDINATES.names, "_topic", "error", "quarantined_at"]
_ORDER = [(name, "ascending") for name in COORDINATES.names]


@dataclass(frozen=True)
class Quarantined:
    """All rows, ordered by their coordinates, as of one state of the forward lane."""

    lane: LaneState
    rows: tuple[QuarantinedRecord, ...]

    def of(self, *states: RecordState) -> list[QuarantinedRecord]:
        """The rows in one of these states."""
        return [each for each in self.rows if each.state in states]


def read_quarantined(
    resources: PipelineResources, lane: LaneState | None = None, scope: OffsetScope | None = None
) -> Quarantined:
    """Read the rows, all or those at some offsets, and decide which count: now, or in a state."""
    # A batch that lands from here on is not seen: its rows count as waiting, and stay.
    lane = lane or read_unchecked(resources)
    quarantine = resources.quarantine.snapshot()
    if quarantine.version is None:
        return Quarantined(lane, ())
    lines = quarantine.rows_without(others_in(lane), _COLUMNS, scope).sort_by(_ORDER)
    stored = group_coordinates(lines)
    asked = OffsetScope.of_offsets({at: found for at, (found, _) in stored.places.items()})
    committed, losses = committed_ranges(lane, asked), losses_that_count(lane)
    found = {place: evidence_of(committed, losses, place, stored) for place in stored.places}
    evidence = _with_newer_rows(lane, with_reads_of_rows_alone(lane, found, stored))
    # The rows are sorted by place, so the places come in the order of the rows.
    marks = [mark for each in evidence.values() for mark in _marks(each)]
    ends = sequence_ends(lane)
    return Quarantined(
        lane,
        tuple(_row(line, *mark, ends) for line, mark in zip(lines.to_pylist(), marks, strict=True)),
    )


def _with_newer_rows(
    lane: LaneState, known: Mapping[TopicIdPartition, Evidence]
) -> Mapping[TopicIdPartition, Evidence]:
    """The same evidence, plus what later batches have, or had, in the data table at these offsets,
    and what they left out.

    Only what others deleted is looked for in the table's log.
    """
    again = _read_again_since(known)
    if not again:
        return known
    newer, filters = lane.data.coordinates_in(OffsetScope.of_offsets(again)), logged_filters(lane)
    found = {
        place: with_filtered(filters, replace(each, data=newer.rows(place, each.batches)))
        for place, each in known.items()
    }
    lacking = [
        RangeToReread(each, place.topic_id)
        for place, offsets in again.items()
        for each in _ranges(np.setdiff1d(offsets, newer.offsets(place)), found[place].partition)
    ]
    removed = removed_by_others(lane, lacking)
    return {
        place: replace(each, deleted={a: r.rows(place, each.batches) for a, r in removed.items()})
        for place, each in found.items()
    }


def _read_again_since(
    known: Mapping[TopicIdPartition, Evidence],
) -> Mapping[TopicIdPartition, Offsets]:
    """The offsets of committed rows over which a later batch went."""
    again: dict[TopicIdPartition, Offsets] = {}
    for place, each in known.items():
        rows = each.quarantined
        later = (rows.reads >= 0) & (each.newest_read(rows.offsets) > rows.reads)
        if later.any():
            again[place] = rows.offsets[later]
    return again


def _ranges(offsets: Offsets, partition: TopicPartition) -> list[OffsetRange]:
    return merged(OffsetRange(partition, each, each + 1) for each in offsets.tolist())


_Mark = tuple[RecordState, int | None]


def _marks(evidence: Evidence) -> Iterator[_Mark]:
    """The state of each row, and the version of the data table that superseded it."""
    rows = evidence.quarantined
    newest = np.maximum(evidence.newest_row(rows.offsets), evidence.newest_whole_read(rows.offsets))
    masks = (rows.reads >= 0, evidence.forgotten, evidence.erased, evidence.superseded)
    for committed, forgotten, erased, superseded, by in zip(*masks, newest, strict=True):
        if not committed:
            yield RecordState.WAITING, None
        elif forgotten:
            yield RecordState.DROPPED, None
        elif erased:
            yield RecordState.ERASED, None
        elif superseded:
            yield RecordState.SUPERSEDED, evidence.reads[by].version
        else:
            yield RecordState.LIVE, None


def _row(
    line: Mapping[str, Any],
    state: RecordState,
    superseded_in: int | None,
    ends: Sequence[SequenceEnd],
) -> QuarantinedRecord:
    if state is RecordState.WAITING and _undone(line["_batch"], ends):
        state = RecordState.UNDONE
    return QuarantinedRecord(
        partition=TopicPartition(line["_topic"], line["_partition"]),
        offset=line["_offset"],
        topic_id=line["_topic_id"],
        batch=line["_batch"],
        # Rows that others have added may say none.
        error=line["error"] or "",
        quarantined_at=line["quarantined_at"],
        state=state,
        superseded_in=superseded_in,
    )


def _undone(batch: str, ends: Sequence[SequenceEnd]) -> bool:
    """Whether the batch can never be committed: its sequence was closed below it."""
    try:
        sequence, number = parse_batch(ends[0].sequence.pipeline, batch)
    except ValueError:
        return False
    return any(each.closed and each.sequence == sequence and number > each.last for each in ends)


@dataclass(frozen=True)
class Record:
    """A quarantined record as Kafka delivered it; `timestamp` is None beyond year 9999."""

    row: QuarantinedRecord
    timestamp: datetime | None
    key: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    value: bytes | None


def read_records(resources: PipelineResources, rows: Sequence[QuarantinedRecord]) -> list[Record]:
    """The records of some rows, in the same order, without those since deleted."""
    if not rows:
        return []
    keys = [*COORDINATES.names, "quarantined_at"]
    columns = [*keys, "_timestamp", "_key", "_headers", "value"]
    places: dict[TopicIdPartition, list[OffsetRange]] = {}
    for row in rows:
        alone = OffsetRange(row.partition, row.offset, row.offset + 1)
        places.setdefault(row.place, []).append(alone)
    table = resources.quarantine.snapshot().rows(columns, OffsetScope.of_ranges(places))
    stamps, lines = moments(table["_timestamp"]), table.drop_columns("_timestamp").to_pylist()
    found = {
        tuple(line[name] for name in keys): (line, stamp)
        for line, stamp in zip(lines, stamps, strict=True)
    }
    return [
        Record(
            row,
            stamp,
            line["_key"],
            tuple((each["key"], each["value"]) for each in line["_headers"] or ()),
            line["value"],
        )
        for row in rows
        for line, stamp in _same(found, row)
    ]


_Line = tuple[Mapping[str, Any], datetime | None]


def _same(found: Mapping[tuple[Any, ...], _Line], row: QuarantinedRecord) -> Iterator[_Line]:
    if line := found.get((*_place(row), row.batch, row.quarantined_at)):
        yield line


def _place(row: QuarantinedRecord) -> tuple[str, int, int]:
    return row.topic_id, row.partition.partition, row.offset
