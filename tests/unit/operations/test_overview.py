"""A pipeline at a glance: how it is, why, and which limits of its `alerts` it exceeds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sluice.offsets.lag import Lag
from sluice.offsets.origin import Origin
from sluice.offsets.partition_log import Retention
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.operations.history import SettledBatch
from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.overview import Condition, Overview, Progress, worst_first

from tests.unit.builders import batch, offsets, partition, planned, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


NOTHING = Progress(1, 0)


def lag(records: int | None, age: timedelta | None = None, kept: timedelta | None = None) -> Lag:
    return Lag(
        partition=partition(),
        cursor=None if records is None else 0,
        last_stable_offset=records,
        end_offset=records,
        oldest_unread=None if age is None else NOW - age,
        now=NOW,
        retention=Retention(kept) if kept else None,
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
    asked: bool = True,
    **keys: Any,
) -> Overview:
    return Overview(spec(**keys), NOW, progress, lags if asked else None, problem)


FRESH = overview(lag(0))


def test_what_has_read_everything_is_fresh() -> None:
    assert (FRESH.condition, FRESH.reason) == (Condition.FRESH, "")
    assert (FRESH.lag, FRESH.age, FRESH.time_to_loss) == (0, timedelta(0), None)


@pytest.mark.parametrize(
    ("keys", "patience"),
    [
        ({"schedule": None}, 15 * MINUTE),
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


def test_unread_records_of_unknown_age_count_as_behind() -> None:
    assert overview(lag(5)).condition is Condition.BEHIND


def test_what_nobody_told_is_unknown_and_never_zero() -> None:
    silent = overview(asked=False, problem="broker:9092 did not answer. Run again.")
    assert (silent.condition, silent.reason) == (Condition.UNKNOWN, silent.problem)
    assert (silent.lag, silent.age, silent.time_to_loss) == (None, None, None)
    assert overview(lag(5, MINUTE), lag(None)).lag is None


def test_what_would_be_refused_is_stopped_whatever_kafka_says() -> None:
    refused = replace(FRESH, progress=Progress(1, 0, refused="The topic is gone: reset."))
    assert (refused.condition, refused.reason) == (Condition.STOPPED, "The topic is gone: reset.")
    unreadable = replace(FRESH, progress=None, problem="the log is damaged")
    assert (unreadable.condition, unreadable.reason) == (Condition.STOPPED, "the log is damaged")


def test_a_batch_that_waits_longer_than_a_run_should_take_is_stopped() -> None:
    waiting = Progress(1, 0, unfinished=(batch(),), unfinished_since=NOW - 10 * MINUTE)
    assert replace(FRESH, progress=waiting).condition is Condition.FRESH
    long = replace(waiting, unfinished_since=NOW - 60 * MINUTE)
    found = replace(FRESH, spec=spec(schedule=None), progress=long)
    assert found.condition is Condition.STOPPED
    assert "1 batch planned at 2026-11-24 11:00:00 UTC, not committed since" in found.reason


def test_the_worst_comes_first_and_equals_by_name() -> None:
    stopped = replace(FRESH, spec=spec(pipeline="z"), progress=Progress(1, 0, refused="no"))
    behind = overview(lag(5), pipeline="m")
    others = [overview(lag(0), pipeline=name) for name in ("b", "a")]
    found = worst_first([*others, behind, stopped])
    assert [each.spec.pipeline for each in found] == ["z", "m", "a", "b"]


LIMITS = {"max_lag": "PT30M", "min_time_to_loss": "P1D", "max_silence": "PT2H"}
WITH_LAST = Progress(1, 10, last=settled())


@pytest.mark.parametrize(
    ("alerts", "lags", "progress", "limits"),
    [
        (LIMITS, [lag(0)], WITH_LAST, []),
        (LIMITS, [lag(5, 29 * MINUTE, timedelta(days=7))], WITH_LAST, []),
        (LIMITS, [lag(5, 31 * MINUTE, timedelta(days=7))], WITH_LAST, ["max_lag"]),
        (LIMITS, [lag(5, MINUTE, timedelta(hours=20))], WITH_LAST, ["min_time_to_loss"]),
        # Kept for ever: nothing can be lost.
        ({"min_time_to_loss": "P1D"}, [lag(5, MINUTE)], WITH_LAST, []),
        (LIMITS, None, WITH_LAST, ["max_lag", "min_time_to_loss"]),
        ({"max_silence": "PT2H"}, [lag(0)], Progress(1, 0), ["max_silence"]),
        (
            {"max_silence": "PT2H"},
            [lag(0)],
            Progress(1, 0, last=settled(121 * MINUTE)),
            ["max_silence"],
        ),
        (
            {"max_quarantine": 0.001},
            [lag(0)],
            Progress(1, 0, last=settled(records=998, quarantined=2)),
            ["max_quarantine"],
        ),
        (
            {"max_quarantine": 0.001},
            [lag(0)],
            Progress(1, 0, last=settled(records=999, quarantined=1)),
            [],
        ),
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
