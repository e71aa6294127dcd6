"""Rows alone: batches that count, of which neither a plan nor a receipt is left, but rows.

A recovery that found the log of the data table cleaned up knows no more of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sluice.offsets.notation import parse_batch
from sluice.offsets.range_columns import NumberedBatch, OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.resets import LANES
from sluice.offsets.row_offsets import Rows
from sluice.progress.committed import unlisted
from sluice.progress.committed_ranges import CommittedRange
from sluice.progress.evidence import Evidence
from sluice.progress.lane_state import LaneState
from sluice.tables.coordinates import StoredCoordinates


def with_reads_of_rows_alone(
    lane: LaneState, known: Mapping[TopicIdPartition, Evidence], stored: StoredCoordinates
) -> Mapping[TopicIdPartition, Evidence]:
    """The same evidence, as if each such batch had read from its first row to its last.

    Its rows are those of the quarantine table, `stored`, and what the data table has there too.
    """
    aside = unlisted(lane, stored.names)
    if not aside:
        return known
    there = stored.without({*stored.names} - aside)
    offsets = OffsetScope.of_offsets({place: found for place, (found, _) in there.places.items()})
    data = lane.data.coordinates_in(offsets)
    batches = _in_order(lane, aside | unlisted(lane, data.names))
    return {place: _with_reads(place, each, batches, stored, data) for place, each in known.items()}


def _in_order(lane: LaneState, names: Iterable[str]) -> Sequence[NumberedBatch]:
    """As they read an offset again: a backfill repeats what its generation has read forward."""
    batches = [parse_batch(lane.pipeline, each) for each in names]
    return sorted(batches, key=lambda b: (b[0].generation, LANES.index(b[0].lane), b[1]))


def _with_reads(
    place: TopicIdPartition,
    known: Evidence,
    batches: Sequence[NumberedBatch],
    stored: StoredCoordinates,
    data: StoredCoordinates,
) -> Evidence:
    names = [sequence.batch(number) for sequence, number in batches]
    rows = stored.rows(place, names).and_(data.rows(place, names))
    reads = [*_reads(rows, known.partition, batches), *known.reads]
    return replace(
        known, reads=reads, quarantined=stored.rows(place, [read.batch for read in reads])
    )


def _reads(
    rows: Rows, partition: TopicPartition, batches: Sequence[NumberedBatch]
) -> Iterator[CommittedRange]:
    for index, (sequence, number) in enumerate(batches):
        offsets = rows.offsets[rows.reads == index]
        if not len(offsets):
            continue
        yield CommittedRange(
            batch=sequence.batch(number),
            forward=sequence.lane == "forward",
            generation=sequence.generation,
            offsets=OffsetRange(partition, int(offsets.min()), int(offsets.max()) + 1),
            version=-1,
            due=False,
            receipts=(),
            checked=False,
        )
