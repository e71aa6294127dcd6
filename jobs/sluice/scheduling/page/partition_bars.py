"""Partition bars: each partition's log from its start to its end, and the cursor in it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import nsmallest

from sluice.offsets.lag import Lag
from sluice.offsets.quantities import format_count, format_duration

SHOWN = 50
# What retention takes within this time is drawn.
_SOON = timedelta(days=1)
_LEAST = 0.5


@dataclass(frozen=True)
class Part:
    """A part of the bar, in percent of its length, and what it says."""

    kind: str
    x: float
    width: float
    label: str


@dataclass(frozen=True)
class PartitionBar:
    """One partition: the bar's parts, where the cursor is, and all of it in words."""

    lag: Lag
    parts: tuple[Part, ...]
    cursor: float
    told: str


@dataclass(frozen=True)
class PartitionBars:
    """The bars of the partitions that need a look first, and how many more there are."""

    bars: tuple[PartitionBar, ...]
    more: int
    keys: tuple[tuple[str, str], ...]


_KEYS = (
    ("gone", "deleted before it was read"),
    ("read", "read, and still held"),
    ("taken", "unread: retention takes it within a day, if records came evenly"),
    ("unread", "unread"),
    ("held", "held back by an open transaction"),
)


def partition_bars(lags: Sequence[Lag]) -> PartitionBars:
    """A bar for each partition of which all is known, those that lose records first at the top."""
    known = [each for each in lags if _is_known(each)]
    worst = nsmallest(SHOWN, known, key=_worst_first)
    shown = tuple(bar for each in worst if (bar := bar_of(each)))
    kinds = {part.kind for each in shown for part in each.parts}
    return PartitionBars(
        shown, len(known) - len(shown), tuple(each for each in _KEYS if each[0] in kinds)
    )


def _is_known(lag: Lag) -> bool:
    places = (lag.log_start_offset, lag.last_stable_offset, lag.end_offset, lag.cursor)
    return None not in places


def bar_of(lag: Lag) -> PartitionBar | None:
    """The bar of a partition; None where it is unknown where the log or the cursor is."""
    start, stable, end, cursor = (
        *(lag.log_start_offset, lag.last_stable_offset),
        *(lag.end_offset, lag.cursor),
    )
    if start is None or stable is None or end is None or cursor is None:
        return None
    taken = min(stable, max(cursor, start) + taken_soon(lag))
    places = (
        ("gone", cursor, min(start, end)),
        ("read", start, min(cursor, stable)),
        ("taken", max(cursor, start), taken),
        ("unread", max(cursor, start, taken), stable),
        ("held", max(stable, cursor), end),
    )
    first, last = min(start, cursor), max(end, cursor)
    length = max(1, last - first)
    parts = tuple(
        _part(kind, since - first, until - since, length)
        for kind, since, until in places
        if until > since
    )
    return PartitionBar(lag, parts, round(100 * (cursor - first) / length, 3), _told(lag))


def taken_soon(lag: Lag) -> int:
    """How many unread offsets retention takes within a day, if records came evenly.

    Zero where it reaches none so soon, and where it is unknown.
    """
    kept, age = lag.time_to_loss, lag.age
    if kept is None or not age or not lag.records or kept >= _SOON:
        return 0
    return max(1, round(lag.records * min(1.0, (_SOON - kept) / age)))


def _part(kind: str, since: int, offsets: int, length: int) -> Part:
    width = max(_LEAST, 100 * offsets / length)
    x = min(100 * since / length, 100 - width)
    label = f"{format_count(offsets, 'offset')} {dict(_KEYS)[kind]}"
    return Part(kind, round(x, 3), round(width, 3), label)


def _told(lag: Lag) -> str:
    unread = "all read" if not lag.records else f"{format_count(lag.records, 'offset')} unread"
    return f"{unread}; {_retention(lag)}"


def _retention(lag: Lag) -> str:
    """When retention reaches what is unread, in words."""
    if not lag.losable:
        return "nothing to lose" if lag.records == 0 else "kept for ever"
    if lag.time_to_loss is not None:
        soon = taken_soon(lag)
        some = f", and takes about {format_count(soon, 'offset')} within a day" if soon else ""
        if not lag.time_to_loss:
            return f"retention may take the oldest unread record at any moment{some}"
        return f"retention reaches it in {format_duration(lag.time_to_loss)}{some}"
    if lag.retention is not None and lag.retention.by_size:
        return "when retention reaches it is unknown: Kafka also deletes by size"
    return "when retention reaches it is unknown"


def _worst_first(lag: Lag) -> tuple[object, ...]:
    """Those that lose records soonest, then the longest lag."""
    kept = lag.time_to_loss
    return (
        kept is None,
        kept or timedelta(0),
        -(lag.records or 0),
        lag.partition,
    )
