"""Schedules: cron expressions, in UTC. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise

from croniter import CroniterError, croniter

_START = datetime(2000, 1, 1, tzinfo=UTC)
# Enough to meet the longest gap of most schedules, such as a weekend.
_FIRES = 200


def require_schedule(cron: str) -> None:
    """Raises ValueError unless it is a cron expression that fires some day."""
    if not croniter.is_valid(cron):
        raise ValueError("expected a cron expression such as '*/10 * * * *', or null")
    try:
        croniter(cron, _START).get_next()
    except CroniterError:
        raise ValueError("this never fires; expected a cron expression that does") from None


@lru_cache(maxsize=1024)
def longest_interval(cron: str) -> timedelta:
    """The longest time between two fires that follow each other; a year where there is one only."""
    gaps = (after - before for before, after in pairwise(islice(_fires(cron), _FIRES)))
    return max(gaps, default=timedelta(days=366))


def _fires(cron: str) -> Iterator[datetime]:
    times = croniter(cron, _START, ret_type=datetime)
    # A cron with years ends.
    with suppress(CroniterError):
        while True:
            yield times.get_next()
