"""Rates: offsets that came into Kafka per second, and records that batches landed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from sluice.offsets.ranges import TopicPartition
from sluice.operations.timeline import TimedBatch
from sluice.scheduling.page.batch_spans import begun
from sluice.scheduling.page.plots import Box, Plot, height_of, step_line, wide
from sluice.scheduling.page.time_axis import TimeAxis


@dataclass(frozen=True)
class Ends:
    """The last stable offsets at a moment: their sum, of so many partitions, and each of them."""

    at: datetime
    total: int
    partitions: int
    each: Callable[[], Mapping[TopicPartition, int]]


@dataclass(frozen=True)
class Rate:
    """So many per second from one moment to another, and what is meant."""

    since: datetime
    until: datetime
    per_second: float
    name: str = ""


def rates_in(batches: Sequence[TimedBatch], now: Ends | None = None) -> list[Rate]:
    """How the last stable offsets grew from plan to plan, and until now; 0 where they shrank.

    Where one of two moments knows more partitions, those that both know count.
    """
    plans = {
        each.planned.at: _ends_of(each, each.planned.at)
        for each in batches
        if each.planned and each.batch.sequence.lane == "forward"
    }
    known = [plans[at] for at in sorted(plans)]
    if now and known and now.at > known[-1].at:
        known.append(now)
    return [Rate(a.at, b.at, _growth(a, b) / _seconds(a.at, b.at)) for a, b in pairwise(known)]


def _ends_of(each: TimedBatch, at: datetime) -> Ends:
    def by_partition() -> Mapping[TopicPartition, int]:
        found = each.batch.ranges
        return {one.offsets.partition: one.last_stable_offset for one in found}

    return Ends(at, each.figures.last_stable, len(each.batch.ranges), by_partition)


def rates_out(batches: Sequence[TimedBatch]) -> list[Rate]:
    """The records of each batch over the time of its span, until it had landed."""
    starts = begun(batches)
    return [
        Rate(
            starts[str(each.batch)],
            each.landed,
            each.figures.read / _seconds(starts[str(each.batch)], each.landed),
            str(each.batch),
        )
        for each in batches
        if each.receipt and each.landed and str(each.batch) in starts
    ]


def rate_plots(arriving: Sequence[Rate], landing: Sequence[Rate], axis: TimeAxis) -> list[Plot]:
    """What comes in as a line, each batch as a bar."""
    found = []
    if arriving:
        most = max(each.per_second for each in arriving)
        points = [(axis.at(each.since), height_of(each.per_second, most)) for each in arriving]
        points.append((axis.at(arriving[-1].until), points[-1][1]))
        told = f"at most {told_rate(most)}, last {told_rate(arriving[-1].per_second)}"
        found.append(
            Plot(
                "Offsets in per second",
                f"Offsets in per second, from plan to plan: {told}",
                told_rate(most),
                (step_line(points),),
            )
        )
    if landing:
        found.append(_landing_plot(landing, axis))
    return found


def _landing_plot(landing: Sequence[Rate], axis: TimeAxis) -> Plot:
    most = max(each.per_second for each in landing)
    boxes = []
    for each in landing:
        x, width = wide(axis.at(each.since), axis.at(each.until))
        height = height_of(each.per_second, most)
        label = f"{each.name}: {told_rate(each.per_second)}"
        boxes.append(Box("reading", x, round(100 - height, 3), width, height, label))
    told = f"at most {told_rate(most)}, last {told_rate(landing[-1].per_second)}"
    return Plot(
        "Records out per second",
        f"Records out per second, of batches while they were read: {told}",
        told_rate(most),
        boxes=tuple(boxes),
    )


def told_rate(found: float) -> str:
    """A rate in words: whole numbers from ten on."""
    if 0 < found < 0.01:
        return "under 0.01/s"
    return f"{found:,.0f}/s" if found >= 10 or not found else f"{found:.2f}/s"


def _growth(before: Ends, after: Ends) -> int:
    if before.partitions == after.partitions:
        return max(0, after.total - before.total)
    then, now = before.each(), after.each()
    return sum(max(0, now[each] - then[each]) for each in then.keys() & now.keys())


def _seconds(since: datetime, until: datetime) -> float:
    return max((until - since).total_seconds(), 0.001)
