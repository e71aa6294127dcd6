"""Lag is known or None; it is never a zero that nobody measured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.lag import Lag, age_at, lags, loss_told
from sluice.offsets.partition_log import Retention

from tests.unit.builders import log, partition, state

NOW = datetime(2013, 1, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def lag(
    cursor: int | None = 10,
    stable: int | None = 40,
    end: int | None = 60,
    oldest: datetime | None = None,
) -> Lag:
    return Lag(partition(), cursor, stable, end, oldest, NOW)


@pytest.mark.parametrize(
    ("cursor", "stable", "records"),
    [(10, 40, 30), (40, 40, 0), (41, 40, 0), (0, 0, 0), (None, 40, None), (10, None, None)],
)
def test_records_are_counted_up_to_the_lso(
    cursor: int | None, stable: int | None, records: int | None
) -> None:
    assert lag(cursor, stable).records == records


@pytest.mark.parametrize(
    ("stable", "end", "held_back"), [(40, 60, 20), (40, 40, 0), (None, 60, None), (40, None, None)]
)
def test_what_an_open_transaction_holds_back_is_told_apart(
    stable: int | None, end: int | None, held_back: int | None
) -> None:
    assert lag(10, stable, end).held_back == held_back


def test_age_is_that_of_the_oldest_unread_record() -> None:
    assert lag(oldest=NOW - HOUR).age == HOUR
    assert lag(oldest=None).age is None


def test_an_age_below_zero_is_unknown_and_says_by_how_much() -> None:
    ahead = lag(oldest=NOW + 720 * HOUR)
    assert ahead.age is None
    assert (
        ahead.unknown_age
        == "the oldest unread record of flights[0] is dated 30 days, 0:00:00 ahead"
    )
    assert "does not say how old" in lag(oldest=None).unknown_age
    assert [lag(oldest=NOW).age, lag(oldest=NOW).unknown_age] == [timedelta(0), ""]


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_an_age_is_never_below_zero_and_zero_only_where_it_is(
    now: datetime, then: datetime
) -> None:
    assert age_at(now, then) == (None if then > now else now - then)
    assert age_at(now, None) is None


def test_what_waits_for_a_transaction_dated_ahead_waits_for_an_unknown_time() -> None:
    assert Lag(partition(), 10, 40, 60, None, NOW, NOW + HOUR).held_back_for is None
    assert Lag(partition(), 10, 40, 60, None, NOW).held_back_for is None
    assert Lag(partition(), 10, 40, 60, None, NOW, NOW - HOUR).held_back_for == HOUR
    assert Lag(partition(), 10, 60, 60, None, NOW).held_back_for == timedelta(0)


def test_age_is_zero_where_all_is_read_and_unknown_where_that_is_unknown() -> None:
    assert lag(40, 40, oldest=NOW - HOUR).age == timedelta(0)
    assert lag(None, 40).age is None
    assert lag(10, None).age is None


def test_every_partition_that_anybody_knows_is_listed_in_order() -> None:
    logs = state(log(0, 40, 60), log(0, 9)).logs
    unread, open_since = {partition(0): NOW - HOUR}, {partition(0): NOW}
    found = lags({partition(0): 10, partition(2): 5}, logs, unread, NOW, open_since)
    assert [(each.partition.partition, each.cursor, each.records) for each in found] == [
        (0, 10, 30),
        (1, None, None),
        (2, 5, None),
    ]
    assert [each.age for each in found] == [HOUR, None, None]
    assert found[2].end_offset is None
    assert [each.held_back_since for each in found] == [NOW, None, None]


def test_who_waits_for_a_transaction_reads_how_many_offsets_since_when_and_where() -> None:
    waiting = Lag(partition(), 10, 40, 1060, None, NOW, NOW - HOUR).waiting
    assert waiting == (
        "flights[0]: 1,020 offsets held back by an open transaction since 2013-01-02T11:00:00Z"
        " (offset 40)"
    )
    one = lag(stable=40, end=41).waiting
    assert one == (
        "flights[0]: 1 offset held back by an open transaction since an unknown time (offset 40)"
    )


@pytest.mark.parametrize(("stable", "end"), [(40, 40), (None, 60), (40, None)])
def test_nothing_waits_where_nothing_is_held_back_or_that_is_unknown(
    stable: int | None, end: int | None
) -> None:
    assert lag(10, stable, end).waiting is None


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("oldest", "retention", "left"),
    [
        (NOW - HOUR, Retention(DAY), timedelta(hours=23)),
        (NOW - 2 * DAY, Retention(DAY), timedelta(0)),
        (NOW + HOUR, Retention(DAY), timedelta(hours=25)),
        (NOW - HOUR, Retention(None), None),
        (NOW - HOUR, Retention(DAY, by_size=True), None),
        (NOW - HOUR, None, None),
        (None, Retention(DAY), None),
    ],
    ids=[
        "an hour old",
        "due",
        "dated ahead: a segment is kept for its greatest time",
        "for ever",
        "by size",
        "not asked",
        "no age",
    ],
)
def test_time_to_loss_is_when_retention_may_reach_the_oldest_unread_record(
    oldest: datetime | None, retention: Retention | None, left: timedelta | None
) -> None:
    found = Lag(partition(), 10, 40, 60, oldest, NOW, retention=retention)
    assert found.time_to_loss == left


def test_where_all_is_read_there_is_nothing_to_lose() -> None:
    found = Lag(partition(), 40, 40, 60, NOW - HOUR, NOW, retention=Retention(DAY))
    assert found.time_to_loss is None


def test_retention_is_that_of_the_partitions_topic() -> None:
    logs = {**state(log(3, 40)).logs, **state(log(0, 9), topic="delays").logs}
    unread = dict.fromkeys(logs, NOW - HOUR)
    cursor = dict.fromkeys(logs, 5)
    found = lags(cursor, logs, unread, NOW, {}, {"flights": Retention(DAY)})
    told = {str(each.partition): (each.log_start_offset, each.time_to_loss) for each in found}
    assert told == {"flights[0]": (3, timedelta(hours=23)), "delays[0]": (0, None)}


FOREVER, WEEK = Retention(None), Retention(timedelta(days=7))


def kept(retention: Retention | None, cursor: int | None = 10, oldest: bool = True) -> Lag:
    unread = NOW - HOUR if oldest else None
    return Lag(partition(), cursor, 40, 60, unread, NOW, retention=retention)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([kept(WEEK)], "6 days, 23:00:00"),
        ([kept(WEEK), kept(Retention(2 * HOUR)), kept(FOREVER)], "1:00:00"),
        ([kept(None, cursor=40)], "all read"),
        ([], "all read"),
        ([kept(FOREVER), kept(WEEK, cursor=40)], "kept for ever"),
        ([kept(WEEK, oldest=False)], "unknown"),
        ([kept(Retention(None, by_size=True))], "unknown"),
        ([kept(FOREVER), kept(None)], "unknown"),
        ([kept(FOREVER, cursor=None)], "kept for ever"),
    ],
)
def test_where_no_time_to_loss_is_told_it_is_said_why(found: list[Lag], told: str) -> None:
    assert loss_told(found) == told
