"""Quantities in words: counts, sizes and durations, as messages and tables for people show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import humanize

from sluice.offsets.ranges import OffsetRange, TopicPartition

_RANGES_NAMED = 20
# What a line names one by one, of partitions that may be 10,000.
MOST_NAMED = 10
_YEAR = timedelta(days=365)


def format_count(number: int | None, one: str, many: str | None = None) -> str:
    """Write `1 batch` or `1,234 batches`; `many` is the plural unless it is `one` plus an s."""
    many = many or f"{one}s"
    if number is None:
        return f"an unknown number of {many}"
    return f"{number:,} {one if number == 1 else many}"


def known_sum(numbers: Iterable[int | None]) -> int | None:
    """The sum; None where any of the numbers is unknown."""
    found = list(numbers)
    known = [each for each in found if each is not None]
    return sum(known) if len(known) == len(found) else None


def format_size(size: int | None) -> str:
    """Write bytes in decimal units with three significant digits, such as `76 B` or `1.23 MB`."""
    if size is None:
        return "an unknown size"
    # Only bytes themselves are a word there, not a sign.
    return re.sub(" Bytes?$", " B", humanize.naturalsize(size, format="%.3g"))


def format_duration(duration: timedelta) -> str:
    """Write `1 day, 2:30:00`, to the second; from a year on, `3.0 years`."""
    if duration >= _YEAR:
        return f"{duration / _YEAR:.1f} years"
    return str(timedelta(seconds=round(duration.total_seconds())))


def format_moment(moment: datetime) -> str:
    """Write `2026-11-01 06:00:00`: in UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def format_ranges(ranges: Iterable[OffsetRange]) -> str:
    """Write `t[0] [0, 5), t[1] [2, 9)`: the non-empty ranges; of very many, the first ones."""
    found = [each for each in ranges if each.span]
    named = ", ".join(map(str, found[:_RANGES_NAMED])) or "no offsets"
    more = len(found) - _RANGES_NAMED
    return f"{named}, … and {format_count(more, 'more range')}" if more > 0 else named


def named(words: Sequence[str]) -> str:
    """The first of what may be very many, and how many more there are."""
    named = ", ".join(words[:MOST_NAMED]) or "no offsets"
    more = len(words) - MOST_NAMED
    return f"{named}, … and {more:,} more" if more > 0 else named


def cursor_text(cursor: Mapping[TopicPartition, int]) -> str:
    """Write `cursor at flights[0]@120, flights[1]@80`; of very many partitions, the first ones."""
    if not cursor:
        return "no cursor yet"
    return f"cursor at {named([f'{each}@{offset}' for each, offset in sorted(cursor.items())])}"
