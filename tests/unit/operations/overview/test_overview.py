"""A pipeline at a glance: how it is, why, and which limits of its `alerts` it exceeds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sluice.offsets.lag import Lag, loss_told
from sluice.offsets.origin import Origin
from sluice.offsets.partition_log import Retention
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.operations.history import SettledBatch
from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.gauges import measurements
from sluice.operations.overview.overview import (
    Condition,
    Overview,
    Progress,
    as_bad_as,
    reasons,
    worst_first,
)
from sluice.progress.overdue import Overdue
from sluice.progress.undecodable import QuarantinedShare

from tests.unit.builders import batch, offsets, partition, planned, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


NOTHING = Progress(1, 0)


def lag(
    records: int | None,
    age: timedelta | None = None,
    kept: timedelta | None = None,
    by_size: bool = False,
) -> Lag:
    return Lag(
        partition=partition(),
        cursor=None if records is None else 0,
        last_stable_offset=records,
        end_offset=records,
        oldest_unread=None if age is None else NOW - age,
        now=NOW,
        retention=Retention(kept, by_size),
    )


def settled(ago: timedelta = MINUTE, records: int = 10, quarantined: int = 0) -> SettledBatch:
    line = PartitionCount(
        planned(offsets(0, records + quarantined)), records, quarantined, GapCount()
    )
    receipt = Receipt(batch(), (line,), 1, recorded=Origin("run", "airflow:admin", NOW - ago))
    return SettledBatch(receipt, False, Origin("run", "airflow:admin", NOW - ago - MINUTE))


def overview(
    *lags: Lag,
    progress: Progress | None = NOTHING,
    problem: str = "",
    refused: str = "",
    asked: bool = True,
    **keys: Any,
) -> Overview:
    return Overview(spec(**keys), NOW, progress, lags if asked else None, problem, refused)


FRESH = overview(lag(0))


def test_what_has_read_everything_is_fresh() -> None:
    assert (FRESH.condition, FRESH.reason) == (Condition.FRESH, "")
    assert (FRESH.lag, FRESH.age, FRESH.time_to_loss) == (0, timedelta(0), None)


@pytest.mark.parametrize(
    ("keys", "patience"),
    [
        ({"schedule": None, "alerts": {"max_lag": "PT5M"}}, 5 * MINUTE),
        ({"schedule": "* * * * *"}, 15 * MINUTE),
        ({"schedule": "0 * * * *"}, 120 * MINUTE),
        ({"schedule": "0 8 * * 1-5"}, timedelta(days=6)),
        ({"schedule": "0 * * * *", "alerts": {"max_lag": "PT5M"}}, 5 * MINUTE),
    ],
)
def test_a_run_on_time_leaves_at_most_so_much(keys: dict[str, Any], patience: timedelta) -> None:
    assert spec(**keys).patience == patience
    assert overview(lag(5, patience), **keys).condition is Condition.FRESH
    late = overview(lag(5, patience + MINUTE), **keys)
    assert late.condition is Condition.BEHIND
    assert "the oldest unread record is" in late.reason


def test_who_starts_runs_by_hand_is_never_behind_without_a_limit() -> None:
    assert overview(lag(5, timedelta(days=30)), schedule=None).condition is Condition.FRESH


def test_unread_records_of_unknown_age_count_as_behind() -> None:
    assert overview(lag(5)).condition is Condition.BEHIND


def test_one_partition_of_unknown_age_beside_others_is_not_age_zero() -> None:
    for others in ([lag(0)], [lag(3, MINUTE)], []):
        found = overview(*others, lag(5), alerts={"max_lag": "PT30M"})
        assert (found.age, found.condition) == (None, Condition.BEHIND)
        assert [each.limit for each in breaches(found)] == ["max_lag"]
    assert "lag_seconds" not in {each.gauge.name for each in measurements(overview(lag(0), lag(5)))}


@pytest.mark.parametrize("schedule", [None, "0 * * * *"])
def test_a_record_dated_ahead_is_neither_fresh_nor_of_age_zero(schedule: str | None) -> None:
    """Three records behind it may be hours old: only the first one's time is told."""
    limits = {"max_lag": "PT1H", "max_silence": "PT2H"}
    found = overview(lag(4, timedelta(days=-30)), schedule=schedule, alerts=limits)
    assert (found.age, found.condition) == (None, Condition.BEHIND)
    assert "is dated 30 days, 0:00:00 ahead" in found.reason
    assert [each.limit for each in breaches(found)] == ["max_lag", "max_silence"]
    assert "lag_seconds" not in {each.gauge.name for each in measurements(found)}


def test_a_last_batch_that_is_still_to_come_says_nothing_of_the_silence() -> None:
    progress = Progress(1, 10, last=settled(-MINUTE))
    found = overview(lag(0), progress=progress, alerts={"max_silence": "PT2H"})
    assert found.silence is None
    (unknown,) = breaches(found)
    assert "still to come" in unknown.text


def test_a_transaction_of_unknown_beginning_is_late() -> None:
    held = replace(lag(0), end_offset=1000)
    for since in (None, NOW + MINUTE):
        unknown = replace(held, held_back_since=since)
        long = replace(held, held_back_since=NOW - 10 * MINUTE)
        found = overview(long, unknown, schedule="0 * * * *", alerts={"max_lag": "PT30M"})
        assert (found.held_back, found.held_back_for) == (unknown, None)
        assert found.condition is Condition.BEHIND
        assert [each.limit for each in breaches(found)] == ["max_lag"]


def test_what_nobody_told_is_unknown_and_never_zero() -> None:
    silent = overview(asked=False, problem="broker:9092 did not answer. Run again.")
    assert (silent.condition, silent.reason) == (Condition.UNKNOWN, silent.problem)
    assert (silent.lag, silent.age, silent.time_to_loss) == (None, None, None)
    assert overview(lag(5, MINUTE), lag(None)).lag is None


def test_what_would_be_refused_is_stopped_whatever_kafka_says() -> None:
    refused = replace(FRESH, refused="The topic is gone: reset.")
    assert (refused.condition, refused.reason) == (Condition.STOPPED, "The topic is gone: reset.")
    damaged = "the log is damaged"
    unreadable = replace(FRESH, progress=None, problem=damaged, refused=damaged)
    assert (unreadable.condition, unreadable.reason) == (Condition.STOPPED, damaged)


def test_while_the_store_is_silent_it_is_unknown_and_not_stopped() -> None:
    found = replace(FRESH, progress=None, problem="the store did not answer")
    assert (found.condition, found.reason) == (Condition.UNKNOWN, "the store did not answer")


@pytest.mark.parametrize("schedule", [None, "* * * * *", "0 8 * * 1"])
def test_planned_batches_of_which_none_lands_for_an_hour_are_stopped(schedule: str | None) -> None:
    waiting = Progress(1, 0, unfinished=(batch(),), waiting_since=NOW - 60 * MINUTE)
    found = replace(FRESH, spec=spec(schedule=schedule), progress=waiting)
    assert found.condition is Condition.FRESH
    long = replace(found, progress=replace(waiting, waiting_since=NOW - 61 * MINUTE))
    assert long.condition is Condition.STOPPED
    assert "1 batch planned, and none committed since 2026-11-24 10:59:00 UTC" in long.reason


def test_batches_in_the_table_that_nobody_settles_for_an_hour_are_stopped() -> None:
    late = Progress(1, 0, overdue=Overdue(batch(), 2, NOW - 60 * MINUTE))
    found = replace(FRESH, progress=late)
    assert (found.condition, found.reason) == (Condition.FRESH, "")
    long = replace(late, overdue=Overdue(batch(), 2, NOW - 61 * MINUTE))
    found = replace(FRESH, progress=long)
    assert found.condition is Condition.STOPPED
    assert found.reason == (
        "2 batches in the table without receipt, and none settled since 2026-11-24 10:59:00 UTC:"
        f" {batch()}. The log of `settle` says why, as does `sluice run {found.spec.pipeline}`."
    )


def test_the_worst_comes_first_and_equals_by_name() -> None:
    stopped = replace(FRESH, spec=spec(pipeline="z"), refused="no")
    behind = overview(lag(5), pipeline="m")
    others = [overview(lag(0), pipeline=name) for name in ("b", "a")]
    found = worst_first([*others, behind, stopped])
    assert [each.spec.pipeline for each in found] == ["z", "m", "a", "b"]


def test_as_bad_as_a_state_are_those_in_it_and_in_worse_ones() -> None:
    fresh = overview(lag(0), pipeline="f")
    behind = overview(lag(5), pipeline="b")
    unknown = overview(asked=False, problem="no answer", pipeline="u")
    stopped = overview(lag(0), refused="no topic", pipeline="s")
    found = [fresh, behind, unknown, stopped]
    bad = {
        limit: "".join(each.spec.pipeline for each in as_bad_as(limit, found))
        for limit in Condition
    }
    assert list(bad.values()) == ["s", "su", "sub", "subf"]


LIMITS = {"max_lag": "PT30M", "min_time_to_loss": "P1D", "max_silence": "PT2H"}
WITH_LAST = Progress(1, 10, last=settled())
WEEK = timedelta(days=7)
SIZED, AGELESS = lag(5, MINUTE, WEEK, by_size=True), lag(5, kept=WEEK)


@pytest.mark.parametrize(
    ("alerts", "lags", "progress", "limits"),
    [
        (LIMITS, [lag(0)], WITH_LAST, []),
        (LIMITS, [lag(5, 29 * MINUTE, timedelta(days=7))], WITH_LAST, []),
        (LIMITS, [lag(5, 31 * MINUTE, timedelta(days=7))], WITH_LAST, ["max_lag"]),
        (LIMITS, [lag(5, MINUTE, timedelta(hours=20))], WITH_LAST, ["min_time_to_loss"]),
        # Kept for ever: nothing can be lost.
        ({"min_time_to_loss": "P1D"}, [lag(5, MINUTE)], WITH_LAST, []),
        ({"min_time_to_loss": "P1D"}, [SIZED], WITH_LAST, ["min_time_to_loss"]),
        (
            {"min_time_to_loss": "P1D"},
            [lag(0, kept=WEEK), AGELESS],
            WITH_LAST,
            ["min_time_to_loss"],
        ),
        ({"min_time_to_loss": "P1D"}, [replace(SIZED, last_stable_offset=0)], WITH_LAST, []),
        (LIMITS, None, WITH_LAST, ["max_lag", "min_time_to_loss"]),
        # Before the first batch it is silent since there is something to read.
        ({"max_silence": "PT2H"}, [lag(0)], NOTHING, []),
        ({"max_silence": "PT2H"}, [lag(5, 119 * MINUTE)], NOTHING, []),
        ({"max_silence": "PT2H"}, [lag(5, 121 * MINUTE)], NOTHING, ["max_silence"]),
        ({"max_silence": "PT2H"}, None, NOTHING, ["max_silence"]),
        ({"max_silence": "PT2H"}, [lag(0)], None, ["max_silence"]),
        (
            {"max_silence": "PT2H"},
            [lag(0)],
            Progress(1, 0, last=settled(121 * MINUTE)),
            ["max_silence"],
        ),
        (
            {"max_quarantine": 0.001},
            [lag(0)],
            Progress(1, 0, quarantined=QuarantinedShare("forward-1-1", 0.002)),
            ["max_quarantine"],
        ),
        (
            {"max_quarantine": 0.001},
            [lag(0)],
            Progress(1, 0, quarantined=QuarantinedShare("forward-1-1", 0.001)),
            [],
        ),
        ({"max_waiting": 0}, [lag(0)], Progress(1, 0), []),
        ({"max_waiting": 0}, [lag(0)], Progress(1, 0, waiting=None), ["max_waiting"]),
        ({}, None, None, []),
    ],
)
def test_every_limit_that_is_exceeded_is_named(
    alerts: dict[str, Any], lags: list[Lag] | None, progress: Progress | None, limits: list[str]
) -> None:
    found = overview(
        *(lags or ()), progress=progress, asked=lags is not None, problem="no", alerts=alerts
    )
    assert [each.limit for each in breaches(found)] == limits


def test_a_breach_says_what_was_expected_and_found() -> None:
    (late,) = breaches(overview(lag(5, 45 * MINUTE), alerts={"max_lag": "PT30M"}))
    assert str(late) == (
        "alerts.max_lag: expected unread records of at most 0:30:00, found 0:45:00"
    )


def test_the_same_reason_is_told_once_for_all() -> None:
    dead = [overview(asked=False, problem="no answer", pipeline=name) for name in ("a", "b")]
    other = overview(lag(0), refused="no topic", pipeline="c")
    found = worst_first([*dead, other, overview(lag(0), pipeline="d")])
    assert reasons(found) == ["c: stopped: no topic", "a, b: unknown: no answer"]


def test_a_breach_of_what_is_unknown_says_why() -> None:
    limits = {"min_time_to_loss": "P1D", "max_silence": "PT2H"}
    sized, none = breaches(overview(SIZED, lag(1, 200 * MINUTE), alerts=limits))
    assert sized.text.endswith(
        "found unknown: flights has retention.bytes, and Kafka deletes by size, not age. Limit"
        " `max_lag` instead"
    )
    assert none.text.endswith("found none; the oldest unread record is 3:20:00 old")
    silent = overview(asked=False, progress=None, problem="no answer", alerts=limits)
    assert [each.text.endswith("found unknown") for each in breaches(silent)] == [
        True,
        True,
    ]


def test_a_limit_of_quarantine_that_nobody_can_tell_is_exceeded() -> None:
    found = overview(lag(0), progress=None, problem="no answer", alerts={"max_quarantine": 0.5})
    (unknown,) = breaches(found)
    assert unknown.text.endswith("found unknown")


def test_an_open_transaction_that_hangs_is_late() -> None:
    since = NOW - timedelta(days=3)
    held = replace(lag(0), end_offset=1000, held_back_since=since)
    found = overview(lag(0), held, schedule="0 * * * *", alerts={"max_lag": "PT30M"})
    assert found.condition is Condition.BEHIND
    assert "1,000 offsets held back by an open transaction since 2026-11-21" in found.reason
    (late,) = breaches(found)
    assert "1,000 offsets held back" in late.text
    short = replace(held, held_back_since=NOW - 10 * MINUTE)
    assert replace(found, lags=(short,)).condition is Condition.FRESH
    assert breaches(replace(found, lags=(short,))) == []


def test_a_time_to_loss_that_is_partly_unknown_is_no_number() -> None:
    known = lag(5, MINUTE, WEEK)
    assert overview(known, lag(0, kept=WEEK)).time_to_loss == WEEK - MINUTE
    assert overview(known, AGELESS).time_to_loss is None
    assert loss_told([known, AGELESS]) == "at most 6 days, 23:59:00"
    assert loss_told([known]) == "6 days, 23:59:00"


def test_of_no_partition_nothing_is_known() -> None:
    found = overview(refused="topics: expected not-there on the cluster")
    assert (found.lag, found.age, found.last_stable_offset) == (None, None, None)
