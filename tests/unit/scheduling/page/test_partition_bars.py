"""A partition's log as a bar: what is read, what is not, and what retention takes next."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sluice.offsets.lag import Lag
from sluice.offsets.partition_log import Retention
from sluice.scheduling.page.partition_bars import bar_of, partition_bars, taken_soon

from tests.unit.builders import partition
from tests.unit.scheduling.page.timed import NOON

HOUR = timedelta(hours=1)
WEEK = Retention(timedelta(days=7))


def lag(
    cursor: int | None = 60,
    stable: int = 90,
    *,
    end: int = 100,
    start: int = 20,
    age: timedelta | None = HOUR,
    kept: Retention | None = WEEK,
    number: int = 0,
) -> Lag:
    oldest = NOON - age if age is not None else None
    return Lag(
        partition(number), cursor, stable, end, oldest, NOON, log_start_offset=start, retention=kept
    )


def parts(found: Lag) -> list[tuple[str, float, float]]:
    bar = bar_of(found)
    assert bar is not None
    return [(each.kind, each.x, each.width) for each in bar.parts]


def test_a_bar_goes_from_the_log_start_over_the_cursor_to_the_end() -> None:
    assert parts(lag()) == [("read", 0, 50), ("unread", 50, 37.5), ("held", 87.5, 12.5)]
    bar = bar_of(lag())
    assert bar is not None
    assert bar.cursor == 50
    assert bar.told == "30 offsets unread; retention reaches it in 6 days, 23:00:00"


def test_what_retention_takes_within_a_day_is_drawn() -> None:
    # 30 offsets of four days; retention reaches the oldest in twelve hours.
    found = lag(age=timedelta(days=6.5), kept=WEEK)
    assert taken_soon(found) == round(30 * 0.5 / 6.5) == 2
    assert parts(found)[1:] == [("taken", 50, 2.5), ("unread", 52.5, 35), ("held", 87.5, 12.5)]
    bar = bar_of(found)
    assert bar is not None
    assert bar.told.endswith("in 12:00:00, and takes about 2 offsets within a day")


def test_what_is_overdue_may_go_at_any_moment() -> None:
    bar = bar_of(lag(age=timedelta(days=8)))
    assert bar is not None
    assert "may take the oldest unread record at any moment, and takes about 4" in bar.told


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (lag(kept=None), "when retention reaches it is unknown"),
        (lag(kept=Retention(None, by_size=True)), "is unknown: Kafka also deletes by size"),
        (lag(age=None), "when retention reaches it is unknown"),
        (lag(kept=Retention(None)), "30 offsets unread; kept for ever"),
        (lag(cursor=90), "all read; nothing to lose"),
    ],
)
def test_what_is_unknown_is_said_and_not_drawn(found: Lag, told: str) -> None:
    bar = bar_of(found)
    assert bar is not None
    assert bar.told.endswith(told)
    assert "taken" not in [each.kind for each in bar.parts]


def test_what_is_gone_before_it_was_read_is_drawn() -> None:
    assert parts(lag(cursor=0, start=20)) == [
        *(("gone", 0, 20), ("unread", 20, 70)),
        ("held", 90, 10),
    ]


def test_an_empty_log_and_an_unknown_cursor() -> None:
    assert parts(lag(cursor=0, stable=0, end=0, start=0)) == []
    assert bar_of(lag(cursor=None)) is None


def test_of_many_partitions_the_worst_have_a_bar() -> None:
    calm = [lag(cursor=90 - each, number=each, kept=None) for each in range(60)]
    soon = lag(number=60, age=timedelta(days=6.9))
    found = partition_bars([*calm, soon])
    assert len(found.bars) == 50
    assert found.more == 11
    assert [each.lag.partition.partition for each in found.bars[:2]] == [60, 59]
    assert [kind for kind, _ in found.keys] == ["read", "taken", "unread", "held"]
