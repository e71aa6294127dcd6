"""Lag is known or None; it is never a zero that nobody measured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sluice.lag import Lag, lags

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


def test_age_is_zero_where_all_is_read_and_unknown_where_that_is_unknown() -> None:
    assert lag(40, 40, oldest=NOW - HOUR).age == timedelta(0)
    assert lag(None, 40).age is None
    assert lag(10, None).age is None


def test_every_partition_that_anybody_knows_is_listed_in_order() -> None:
    logs = state(log(0, 40, 60), log(0, 9)).logs
    found = lags({partition(0): 10, partition(2): 5}, logs, {partition(0): NOW - HOUR}, NOW)
    assert [(each.partition.partition, each.cursor, each.records) for each in found] == [
        (0, 10, 30),
        (1, None, None),
        (2, 5, None),
    ]
    assert [each.age for each in found] == [HOUR, None, None]
    assert found[2].end_offset is None
