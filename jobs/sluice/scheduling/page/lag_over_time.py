"""Lag over time: how much was not read when a batch was planned, and when it had landed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from sluice.offsets.quantities import format_count, format_moment
from sluice.operations.timeline import TimedBatch
from sluice.scheduling.page.plots import Line, Plot, height_of, line_through
from sluice.scheduling.page.time_axis import TimeAxis


@dataclass(frozen=True)
class LagPoint:
    """The lag at a moment, in offsets."""

    at: datetime
    offsets: int


def lag_points(batches: Sequence[TimedBatch], now: LagPoint | None = None) -> list[LagPoint]:
    """What plans and receipts say of the forward lane, in order, and last what is known now.

    At a plan the lag is what was unread then; a landing takes its batch off. The batches of one
    plan have one moment, at which the first of them tells the lag.
    """
    found: list[LagPoint] = []
    plans: set[datetime] = set()
    for each in batches:
        if each.batch.sequence.lane != "forward" or each.undone:
            continue
        before = each.figures.before
        if each.planned and each.planned.at not in plans:
            plans.add(each.planned.at)
            found.append(LagPoint(each.planned.at, before))
        if each.landed:
            found += [LagPoint(each.landed, before), LagPoint(each.landed, each.figures.left)]
    # Equal moments keep their order: first what was unread, then what a landing left.
    found.sort(key=lambda each: each.at)
    return [*found, *([now] if now and all(each.at < now.at for each in found) else [])]


def lag_plot(points: Sequence[LagPoint], axis: TimeAxis) -> Plot:
    """The lag over time; between two moments that are known, the line is straight."""
    title = "Lag"
    if len(points) < 2:
        return Plot(title, "Lag over time: not known before the first batch")
    largest = max(points, key=lambda each: each.offsets)
    return Plot(
        title,
        _told(points),
        format_count(largest.offsets, "offset"),
        (_line(points, axis),),
    )


@dataclass(frozen=True)
class Spark:
    """The same in a cell of a table: a line, and what it shows in words."""

    line: Line
    summary: str


# Those who look again mostly see the same.
@lru_cache(maxsize=2048)
def spark(points: tuple[LagPoint, ...]) -> Spark | None:
    """A small picture of the lag over time; None where too little is known."""
    if len(points) < 2:
        return None
    axis = TimeAxis.over([each.at for each in points])
    return Spark(_line(points, axis), f"{_told(points)}, from {axis.told}")


def _told(points: Sequence[LagPoint]) -> str:
    largest = max(points, key=lambda each: each.offsets)
    most = f"{format_count(largest.offsets, 'offset')} at {format_moment(largest.at)} UTC"
    return f"Lag over time: at most {most}, last {format_count(points[-1].offsets, 'offset')}"


def _line(points: Iterable[LagPoint], axis: TimeAxis) -> Line:
    found = list(points)
    largest = max(each.offsets for each in found)
    return line_through([(axis.at(each.at), height_of(each.offsets, largest)) for each in found])
