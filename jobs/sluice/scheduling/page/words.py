"""Words: numbers, durations and moments as the page writes them. Unknown is never 0. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sluice.offsets.quantities import format_duration, format_moment

UNKNOWN = "unknown"


def count(number: int | None) -> str:
    """A number with its thousands set apart."""
    return UNKNOWN if number is None else f"{number:,}"


def duration(found: timedelta | None) -> str:
    """A duration, to the second."""
    return UNKNOWN if found is None else format_duration(found)


def moment(found: datetime | None, otherwise: str = UNKNOWN) -> str:
    """A moment in UTC."""
    return otherwise if found is None else f"{format_moment(found)} UTC"


def short(found: datetime, now: datetime) -> str:
    """A moment in UTC, to the minute; with its year where that is another one than now's."""
    at = found.astimezone(UTC)
    return f"{at:%m-%d %H:%M}" if at.year == now.astimezone(UTC).year else f"{at:%Y-%m-%d %H:%M}"
