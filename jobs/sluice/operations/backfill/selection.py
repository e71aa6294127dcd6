"""Selections: what to reread, by a time window, offset ranges or whole batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sluice.errors import SettingsError, SpecError
from sluice.moves import Move
from sluice.offsets.losses import recorded_skips
from sluice.offsets.notation import parse_batch, parse_moment, parse_range
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import without
from sluice.operations.backfill.readable import RequestedRange
from sluice.operations.backfill.window_ranges import window_ranges
from sluice.progress.committed import losses_that_count
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.sequence_end import sequence_end
from sluice.tables.stamped_rows import TimeWindow

_SKIPPED = "an operator decided to skip it; `--range` reads it"

Selection = Callable[[PipelineResources, KafkaState], list[RequestedRange]]
"""Returns the requested offsets for the current state of Kafka. Raises SettingsError."""


def parse_selection(
    start: str | None = None,
    end: str | None = None,
    ranges: Sequence[str] = (),
    batches: Sequence[str] = (),
) -> Selection:
    """The selection that one of three ways of writing it means. Raises SettingsError."""
    ways = [bool(start or end), bool(ranges), bool(batches)]
    if sum(ways) != 1 or bool(start) != bool(end):
        given = {"from": start, "to": end, "ranges": ranges, "batches": batches}
        found = ", ".join(name for name, value in given.items() if value) or "none of them"
        raise SettingsError(
            "expected one of: a time window (from and to), offset ranges, or batches;"
            f" found {found}"
        )
    if start and end:
        try:
            return time_window(parse_moment(start), parse_moment(end))
        except ValueError as problem:
            raise SettingsError(f"time window: {problem}") from None
    return offset_ranges(ranges) if ranges else whole_batches(batches)


def time_window(start: datetime, end: datetime) -> Selection:
    """The records whose time is at or after `start`, and before `end`. Skipped ones are left out.

    Raises SettingsError unless the start is before the end.
    """
    if not start < end:
        raise SettingsError(f"time window: expected a start before the end, found {start}, {end}")

    def select(resources: PipelineResources, state: KafkaState) -> list[RequestedRange]:
        return without_skips(resources, window_ranges(TimeWindow(start, end), resources, state))

    return select


def without_skips(
    resources: PipelineResources, requested: Iterable[RequestedRange]
) -> list[RequestedRange]:
    """The requested ranges without skipped offsets, which are listed as excluded."""
    skips = recorded_skips(losses_that_count(read_unchecked(resources)))
    found: list[RequestedRange] = []
    for each in requested:
        holes = [skip.offsets for skip in skips if skip.topic_id == each.topic_id]
        rest = without([each.offsets], holes)
        found += [replace(each, offsets=offsets) for offsets in rest]
        taken = without([each.offsets], rest)
        found += [replace(each, offsets=offsets, excluded_because=_SKIPPED) for offsets in taken]
    return found


def offset_ranges(ranges: Iterable[str]) -> Selection:
    """Offset ranges as they are written: `flights[0] [5, 8)`. Raises SettingsError.

    And SpecError, when it selects, for a topic that was read before the spec left it out.
    """
    try:
        requested = [RequestedRange(parse_range(each)) for each in ranges]
    except ValueError as problem:
        raise SettingsError(f"offset range: {problem}") from None

    def select(resources: PipelineResources, state: KafkaState) -> list[RequestedRange]:
        named = {each.offsets.partition for each in requested}
        _require_named(resources, {each.topic for each in named - state.logs.keys()})
        unknown = ", ".join(map(str, sorted(named - state.logs.keys())))
        if unknown:
            raise SettingsError(
                f"offset range: expected partitions of {resources.spec.pipeline}'s topics, found"
                f" {unknown}. ",
                Move("status", (resources.spec.pipeline,)),
                " lists them.",
            )
        return requested

    return select


def _require_named(resources: PipelineResources, topics: set[str]) -> None:
    left_out = {each for each in topics if not resources.spec.selects(each)}
    if not left_out:
        return
    read = resources.offsets.snapshot().columns.places("planned").values()
    if known := sorted(left_out & {each.topic for each in read}):
        raise SpecError(
            f"{resources.spec.pipeline}: topics: expected {', '.join(known)}, to read it again,"
            " found a spec that no longer names it. Name it again until that has landed."
        )


def whole_batches(names: Iterable[str]) -> Selection:
    """What committed batches read, by their names: `forward-1-42`. Raises SettingsError."""

    def select(resources: PipelineResources, state: KafkaState) -> list[RequestedRange]:
        return [each for name in names for each in _ranges_of_batch(resources, name)]

    return select


def _ranges_of_batch(resources: PipelineResources, name: str) -> Iterator[RequestedRange]:
    try:
        sequence, number = parse_batch(resources.spec.pipeline, name)
    except ValueError as problem:
        raise SettingsError(f"batch: {problem}") from None
    batches = resources.offsets.snapshot().batches(sequence, number, last=number)
    if not batches or number > sequence_end(resources, sequence).last:
        raise SettingsError(
            f"batch: expected a committed batch of {resources.spec.pipeline}, found {name!r}. ",
            Move("history", (resources.spec.pipeline,)),
            " lists the newest.",
        )
    for planned in batches[0].ranges:
        if planned.offsets.span:
            yield RequestedRange(planned.offsets, planned.topic_id)
