"""Stamped rows: at which offsets a table has records of a time window, and others beside them.

The rows' times are compared as numbers: Kafka's may lie beyond what Python's moments can hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.offsets.row_offsets import Mask, Offsets
from sluice.tables.chunks import encoded, numbers
from sluice.tables.data_files import Condition, read_chunks
from sluice.tables.scoped_rows import chunks_at

_COLUMNS = ("_topic", "_topic_id", "_partition", "_offset", "_timestamp")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Delta cuts a file's greatest time to milliseconds.
_CUT = 1000


@dataclass(frozen=True, order=True)
class NamedPlace:
    """A partition as rows name it, by topic and topic id."""

    partition: TopicPartition
    topic_id: str

    @property
    def place(self) -> TopicIdPartition:
        """The partition without its topic's name."""
        return self.partition.of(self.topic_id)


RunsByPlace = Mapping[NamedPlace, OffsetRuns]


@dataclass(frozen=True)
class TimeWindow:
    """The records whose time is in `[start, end)`."""

    start: datetime
    end: datetime

    def holds(self, chunk: pa.RecordBatch) -> Mask:
        """Which rows of a chunk are in it; those without a time are not."""
        stamps = _numbers_of_time(chunk["_timestamp"])
        known = np.asarray(pc.is_valid(chunk["_timestamp"]))
        found: Mask = known & (stamps >= _micros(self.start)) & (stamps < _micros(self.end))
        return found

    @property
    def conditions(self) -> list[Condition]:
        """What skips the files that have none of them."""
        start, end = _micros(self.start) - _CUT, _micros(self.end)
        return [("_timestamp", ">=", _within(start)), ("_timestamp", "<", _within(end))]


def rows_inside(table: DeltaTable, window: TimeWindow) -> RunsByPlace:
    """The offsets of the rows in the window; files outside it are not read."""
    chunks = read_chunks(table, _COLUMNS, window.conditions)
    return _runs(chunk.filter(pa.array(window.holds(chunk))) for chunk in chunks)


def rows_outside(table: DeltaTable, window: TimeWindow, scope: OffsetScope) -> RunsByPlace:
    """The offsets, among those of the scope, of the rows outside the window."""
    chunks = chunks_at(table, _COLUMNS, scope) if scope.places else ()
    return _runs(chunk.filter(pa.array(~window.holds(chunk))) for chunk in chunks)


def together(several: Iterable[RunsByPlace]) -> RunsByPlace:
    """The offsets of all of them."""
    parts: dict[NamedPlace, list[OffsetRuns]] = {}
    for each in several:
        for at, runs in each.items():
            parts.setdefault(at, []).append(runs)
    return {at: OffsetRuns.together(runs) for at, runs in parts.items()}


def _numbers_of_time(stamps: pa.Array) -> Offsets:
    """Times as microseconds since 1970; 0 for null."""
    whole = stamps.cast(pa.timestamp("us", stamps.type.tz)).cast(pa.int64())
    found: Offsets = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)
    return found


def moments(stamps: pa.ChunkedArray) -> Iterator[datetime | None]:
    """Times as moments; None for null, and for what Python's moments cannot hold."""
    for number in stamps.cast(pa.int64()).to_pylist():
        try:
            yield None if number is None else _EPOCH + number * _MICROSECOND
        except OverflowError:
            yield None


def _runs(chunks: Iterable[pa.RecordBatch]) -> RunsByPlace:
    return together(dict(_runs_of(chunk)) for chunk in chunks)


def _runs_of(chunk: pa.RecordBatch) -> Iterator[tuple[NamedPlace, OffsetRuns]]:
    """What others have inserted may lack coordinates: it has no offset to read again."""
    topics, names = encoded(chunk, "_topic")
    topic_ids, ids = encoded(chunk, "_topic_id")
    partitions, offsets = numbers(chunk, "_partition"), numbers(chunk, "_offset")
    places = np.stack([topics, topic_ids, partitions])
    found, which = np.unique(places, axis=1, return_inverse=True)
    for number, (topic, topic_id, partition) in enumerate(found.T.tolist()):
        mine = offsets[(which.reshape(-1) == number) & (offsets >= 0)]
        if partition >= 0 and names[topic] and len(mine):
            at = NamedPlace(TopicPartition(names[topic], partition), ids[topic_id])
            yield at, OffsetRuns.of(mine)


def _within(microseconds: int) -> datetime:
    """The moment in UTC, or the nearest one that Python has: no zone moves it beyond."""
    lowest, highest = (_micros(each.replace(tzinfo=UTC)) for each in (datetime.min, datetime.max))
    return _EPOCH + min(max(microseconds, lowest), highest) * _MICROSECOND


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
