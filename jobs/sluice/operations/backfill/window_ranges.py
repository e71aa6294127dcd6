"""Window ranges: the offsets of a time window, as the tables and Kafka know them.

Times need not rise with offsets: Kafka's first record at or after a moment may be one that is dated
ahead. So the rows themselves say which records lie in a window, and those that have no row, Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from sluice.offsets.offset_runs import NO_RUNS, OffsetRuns
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.operations.backfill.readable import RequestedRange
from sluice.progress.resources import PipelineResources
from sluice.tables.stamped_rows import NamedPlace, RunsByPlace, TimeWindow, together

# Rereading this many records costs less than one more batch.
NEARBY_OFFSETS = 100_000


def window_ranges(
    window: TimeWindow, resources: PipelineResources, state: KafkaState
) -> Iterator[RequestedRange]:
    """Every record of the window that the tables hold, and what else Kafka may have there.

    Close ranges are joined; which records in between are outside the window goes with them.
    """
    tables = resources.data.snapshot(), resources.quarantine.snapshot()
    inside = together(each.inside(window) for each in tables)
    told = _told_by_kafka(window, resources, state)
    scope = _between(inside, told)
    outside = together(each.outside(window, scope) for each in tables)
    for at in sorted({*inside, *told}):
        rows = inside.get(at, NO_RUNS)
        others = outside.get(at, NO_RUNS).without(rows)
        wanted = OffsetRuns.together([rows, told.get(at, NO_RUNS).without(others)])
        for each in wanted.bridged(NEARBY_OFFSETS).ranges(at.partition):
            beside = others & OffsetRuns.of_range(each)
            yield RequestedRange(each, at.topic_id, beside=beside)


def _told_by_kafka(
    window: TimeWindow, resources: PipelineResources, state: KafkaState
) -> RunsByPlace:
    """What lies between the window's ends, if times rise with offsets."""
    partitions = sorted(state.logs)
    first = resources.kafka.offsets_for_time(partitions, window.start)
    behind = resources.kafka.offsets_for_time(partitions, _to_milliseconds(window.end))
    return {
        NamedPlace(each, state.logs[each].topic_id): OffsetRuns.of_range(
            window_range(each, first[each], behind[each], state)
        )
        for each in partitions
    }


def _to_milliseconds(end: datetime) -> datetime:
    """Rounded up: Kafka counts milliseconds, and none of the window's may be cut off."""
    cut = end.replace(microsecond=end.microsecond // 1000 * 1000)
    with suppress(OverflowError):
        return cut if cut == end else cut + timedelta(milliseconds=1)
    return end


def window_range(
    partition: TopicPartition, first: int | None, behind: int | None, state: KafkaState
) -> OffsetRange:
    """The range between two bounds; None is a moment after the last record."""
    end = state.logs[partition].end_offset if behind is None else behind
    # Both bounds are asked for later than the log: it may have been cut back in between.
    return OffsetRange(partition, end if first is None else min(first, end), end)


def _between(inside: RunsByPlace, told: Mapping[NamedPlace, OffsetRuns]) -> OffsetScope:
    """The offsets without a row in the window that would be read with those that have one."""
    places = {}
    for at, runs in together([inside, told]).items():
        holes = runs.bridged(NEARBY_OFFSETS).without(inside.get(at, NO_RUNS))
        if holes.span:
            places[at.place] = holes.starts, holes.ends
    return OffsetScope(places)
