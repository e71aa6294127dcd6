"""Schedules: cron expressions of five fields, in UTC. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise

from croniter import CroniterError, croniter

# A year before a leap day: the longest gap of a schedule may hold one.
_START = datetime(1999, 1, 1, tzinfo=UTC)
_DAY_S = 86_400
# Days that fire, counted until each week, or each month and year, has been met. Where months and
# weekdays decide together, the gap found may lack the days of a week.
_WEEK = 8
_ENOUGH = 400
# In so many days, all dates have met all weekdays.
_CALENDAR = 28 * 365 + 7
_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")


def require_schedule(cron: str) -> None:
    """Raises ValueError unless it is a cron expression of five fields that fires some day.

    Some readers take a sixth field for seconds, at either end, others for years.
    """
    fields = cron.split()
    if len(fields) != len(_FIELDS) and not cron.startswith("@"):
        raise ValueError(
            f"expected a cron expression of five fields ({', '.join(_FIELDS)}), such as"
            f" '*/10 * * * *', or null; found {len(fields)} fields"
        )
    if not croniter.is_valid(cron):
        raise ValueError("expected a cron expression such as '*/10 * * * *', or null")
    try:
        croniter(cron, _START).get_next()
    except CroniterError:
        raise ValueError("this never fires; expected a cron expression that does") from None


@lru_cache(maxsize=1024)
def longest_interval(cron: str) -> timedelta:
    """The longest time between two fires that follow each other."""
    times = croniter(cron, _START.timestamp() - 1)
    minutes, hours, *_ = times.expanded
    longest = covered = 0
    # Every day that fires has the same times, every such hour the same minutes.
    for fires, unit in (
        (_values(minutes, 60), 60),
        (_values(hours, 24), 3_600),
        (list(islice(_days(times), _WEEK if _is_weekly(times) else _ENOUGH)), _DAY_S),
    ):
        gaps = [(after - before) * unit - covered for before, after in pairwise(fires)]
        longest = max([longest, *gaps])
        covered += (fires[-1] - fires[0]) * unit
    return timedelta(seconds=longest)


def _values(field: Sequence[int | str], whole: int) -> Sequence[int]:
    return range(whole) if field == ["*"] else [int(each) for each in field]


def _days(times: croniter) -> Iterator[int]:
    """The days that fire, counted since 1970."""
    end = sys.maxsize
    while (day := int(times.get_next(float) // _DAY_S)) <= end:
        yield day
        end = min(end, day + _CALENDAR)
        times.set_current((day + 1) * _DAY_S - 1)


def _is_weekly(times: croniter) -> bool:
    """Whether no date decides which days fire."""
    _, _, dates, months, _ = times.expanded
    return dates == months == ["*"] and not times.nth_weekday_of_month
