"""A schedule's longest interval: nights, weekends and yearly pauses count."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sluice.spec_file.schedules import longest_interval, require_schedule

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# Years with two leap days.
DAYS = [date(1999, 1, 1) + timedelta(days=each) for each in range(6 * 366)]
EVERY = {"minutes": range(60), "hours": range(24), "dates": range(1, 32), "months": range(1, 13)}


@pytest.mark.parametrize(
    ("cron", "longest"),
    [
        ("*/10 * * * *", 10 * MINUTE),
        ("7,9 * * * *", 58 * MINUTE),
        ("@hourly", HOUR),
        ("0 22-2 * * *", 20 * HOUR),
        # From Friday, 17:50, to Monday, 9:00.
        ("*/10 9-17 * * 1-5", 2 * DAY + 15 * HOUR + 10 * MINUTE),
        ("* * 2-31 * 1", DAY + MINUTE),
        ("0 0 L * *", 31 * DAY),
        ("0 0 * * 1#1", 35 * DAY),
        ("*/5 * 1 1 *", 366 * DAY - 23 * HOUR - 55 * MINUTE),
        ("* * * 2-12 *", 31 * DAY + MINUTE),
        ("0 0 29 2 *", 4 * 365 * DAY + DAY),
        ("0 0 29 2 2#5", 28 * 365 * DAY + 7 * DAY),
    ],
)
def test_the_longest_interval_is_met(cron: str, longest: timedelta) -> None:
    assert longest_interval(cron) == longest


@pytest.mark.parametrize("cron", ["0 0 2 * * *", "*/10 * * * * *", "0 0 1 1 * 0 2030", "* *", ""])
def test_other_than_five_fields_are_refused(cron: str) -> None:
    told = rf"five fields \(minute, hour, day .* found {len(cron.split())} fields"
    with pytest.raises(ValueError, match=told):
        require_schedule(cron)


@pytest.mark.parametrize("cron", ["0 2 * * *", "@daily", "@hourly", "@weekly", "0 0 * * 1#1"])
def test_five_fields_and_presets_are_taken(cron: str) -> None:
    require_schedule(cron)
    assert longest_interval(cron) > timedelta(0)


def some(of: Sequence[int]) -> st.SearchStrategy[set[int]]:
    return st.sets(st.sampled_from(of), max_size=4)


PARTS = {name: some(each) for name, each in EVERY.items()}
BY_DATE = st.fixed_dictionaries(PARTS | {"weekdays": st.just(set())})
BY_WEEKDAY = st.fixed_dictionaries(
    PARTS | {"dates": st.just(set()), "months": st.just(set()), "weekdays": some(range(7))}
)


@pytest.mark.patient
@settings(max_examples=50)
@given(BY_DATE | BY_WEEKDAY)
def test_it_is_that_of_all_fires_one_by_one(parts: dict[str, set[int]]) -> None:
    given_or_all = {name: parts[name] or set(each) for name, each in EVERY.items()}
    minutes = [
        60 * hour + minute
        for hour in sorted(given_or_all["hours"])
        for minute in sorted(given_or_all["minutes"])
    ]
    fires = [
        1440 * each.toordinal() + minute
        for each in DAYS
        if each.day in given_or_all["dates"]
        and each.month in given_or_all["months"]
        and (not parts["weekdays"] or each.isoweekday() % 7 in parts["weekdays"])
        for minute in minutes
    ]
    gaps = [after - before for before, after in pairwise(fires)]
    assume(gaps)
    order = ("minutes", "hours", "dates", "months", "weekdays")
    cron = " ".join(",".join(map(str, parts[name])) or "*" for name in order)
    assert longest_interval(cron) == max(gaps) * MINUTE


def test_it_costs_little() -> None:
    crons = [f"{minute} 9-17 * * {day}" for minute in range(60) for day in ("*", "1-5")]
    before = time.process_time()
    for cron in crons:
        longest_interval(cron)
    assert time.process_time() - before < 0.005 * len(crons)
