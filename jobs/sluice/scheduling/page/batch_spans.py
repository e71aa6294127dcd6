"""Batch spans: each batch from its plan to its commit and to its receipt, over time. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sluice.offsets.batches import BatchSequence, Lane
from sluice.offsets.quantities import format_count, format_duration, format_moment
from sluice.operations.timeline import TimedBatch
from sluice.scheduling.page.plots import Box, Plot, wide
from sluice.scheduling.page.time_axis import TimeAxis

_KEYS = (
    ("reading", "planned, until its commit"),
    ("settling", "committed, until its receipt"),
    ("waiting", "planned, not committed yet"),
    ("again", "landed by another run than planned it"),
    ("undone", "undone by a reset"),
    ("doubt", "in doubt"),
)


def begun(batches: Sequence[TimedBatch]) -> Mapping[str, datetime]:
    """When each batch was next, by its name: planned, and the one before it in its lane landed."""
    found: dict[str, datetime] = {}
    before: dict[BatchSequence, tuple[int, datetime]] = {}
    for each in sorted(batches, key=lambda each: (each.batch.sequence, each.batch.number)):
        sequence, number = each.batch.sequence, each.batch.number
        moments = [each.planned.at] if each.planned else []
        last = before.get(sequence)
        if moments and last and last[0] == number - 1:
            moments.append(last[1])
        if moments:
            found[str(each.batch)] = max(moments)
        if each.landed:
            before[sequence] = number, each.landed
    return found


def batch_spans(batches: Sequence[TimedBatch], axis: TimeAxis) -> Plot:
    """The batches as spans over time, a row for each lane that has any."""
    starts = begun(batches)
    known = [each for each in batches if str(each.batch) in starts or each.landed]
    title = "Batches over time"
    if not known:
        return Plot(title, f"{title}: none")
    lanes: list[Lane] = [
        lane
        for lane in ("forward", "backfill")
        if any(each.batch.sequence.lane == lane for each in known)
    ]
    boxes = [
        box
        for each in known
        for box in _boxes(each, starts, axis, _row(lanes, each.batch.sequence.lane))
    ]
    kinds = {each.kind for each in boxes}
    return Plot(
        title,
        _told(known),
        boxes=tuple(boxes),
        keys=tuple(each for each in _KEYS if each[0] in kinds),
        rows=tuple(lanes),
    )


def _row(lanes: Sequence[Lane], lane: Lane) -> tuple[float, float]:
    """Where a lane's row begins, and how high it is."""
    height = 100 / len(lanes)
    return lanes.index(lane) * height + 0.15 * height, 0.7 * height


def _boxes(
    each: TimedBatch,
    starts: Mapping[str, datetime],
    axis: TimeAxis,
    row: tuple[float, float],
) -> list[Box]:
    settled = each.settled.at if each.settled else None
    landed = each.landed or settled
    start = starts.get(str(each.batch)) or landed or axis.end
    spans = [(_kind(each), start, landed or axis.end)]
    if landed and settled and not each.undone:
        spans.append(("settling", landed, settled))
    label = _label(each, start)
    return [Box(kind, *_across(axis, since, until, row), label) for kind, since, until in spans]


def _across(
    axis: TimeAxis, since: datetime, until: datetime, row: tuple[float, float]
) -> tuple[float, float, float, float]:
    x, width = wide(axis.at(since), axis.at(until))
    return x, round(row[0], 3), width, round(row[1], 3)


def _kind(each: TimedBatch) -> str:
    if each.doubt:
        return "doubt"
    if each.undone:
        return "undone"
    if each.landed is None:
        return "waiting"
    return "again" if each.by_another_run else "reading"


def _label(each: TimedBatch, start: datetime) -> str:
    parts = []
    if each.planned:
        parts.append(f"planned {format_moment(each.planned.at)}")
    if each.landed is None:
        parts.append("undone" if each.undone else "not committed yet")
    else:
        parts.append(
            f"landed {format_moment(each.landed)} after {format_duration(each.landed - start)}"
        )
    if each.settled:
        parts.append(f"settled {format_moment(each.settled.at)}")
    if each.by_another_run:
        parts.append("by another run than planned it")
    if each.doubt:
        parts.append("in doubt")
    return f"{each.batch}: {', '.join(parts)}"


def _told(known: Sequence[TimedBatch]) -> str:
    told = [format_count(len(known), "batch", "batches")]
    for words, found in (
        ("not committed yet", [e for e in known if _kind(e) == "waiting"]),
        ("landed by another run than planned them", [e for e in known if e.by_another_run]),
        ("undone by a reset", [e for e in known if e.undone]),
        ("in doubt", [e for e in known if e.doubt]),
    ):
        if found:
            told.append(f"{len(found)} {words}")
    return ", ".join(told)
