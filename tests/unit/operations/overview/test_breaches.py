"""A pipeline's state table at a glance: it is late or refused, while the data table goes on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sluice.moves import Move, advice
from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.gauges import measurements
from sluice.operations.overview.overview import Condition, Overview
from sluice.operations.state_status import StateStatus
from sluice.state_table.commits import StateCommit
from sluice.state_table.counts import StateCounts

from tests.unit.operations.overview.test_overview import MINUTE, NOTHING, NOW, lag, overview

COMMIT = StateCommit("log", 0, 4, "d", "appended", 3, None, StateCounts(inserted=2, stale=1))
UP_TO_DATE = StateStatus(stands_at=4, behind=0, last=COMMIT)
LATE = StateStatus(stands_at=4, behind=3, since=NOW - 45 * MINUTE, last=COMMIT)
NEVER_MADE = StateStatus()
UNKNOWN = StateStatus(unknown="the store did not answer")
REFUSED = StateStatus(refusal=advice("others wrote to it. ", Move("rebuild", ("p",)), "."))


def having(state: StateStatus | None, max_lag: str | None = "PT30M") -> Overview:
    alerts = {"max_lag": max_lag} if max_lag else {}
    return overview(lag(0), progress=replace(NOTHING, state=state), alerts=alerts)


def told(found: Overview) -> dict[str, float]:
    named = (
        (each.gauge.name, each.labels.get("change"), each.value) for each in measurements(found)
    )
    return {
        ".".join(filter(None, (name.removeprefix("state_"), change))): value
        for name, change, value in named
        if name.startswith("state_")
    }


def test_one_that_is_up_to_date_changes_nothing() -> None:
    for state in (None, UP_TO_DATE):
        assert having(state).condition is Condition.FRESH
        assert breaches(having(state)) == []
    assert told(having(None)) == {}
    counts = {f"refresh_rows.{name}": n for name, n in COMMIT.counts.as_dict().items()}
    assert told(having(UP_TO_DATE)) == {
        "behind_versions": 0,
        "behind_seconds": 0,
        "refused": 0,
        **counts,
    }


def test_one_that_has_not_followed_for_longer_than_the_limit_is_late() -> None:
    found = having(LATE)
    assert found.condition is Condition.BEHIND
    assert found.reason.startswith("the state table is at version 4 of the data table, 3 versions")
    (breach,) = breaches(found)
    assert breach.limit == "max_lag"
    assert "found the state table at version 4 of the data table, 3 versions behind" in breach.text
    assert (told(found)["behind_versions"], told(found)["behind_seconds"]) == (3, 45 * 60)
    early = having(replace(LATE, since=NOW - MINUTE))
    assert (early.condition, breaches(early)) == (Condition.FRESH, [])


def test_one_that_is_refused_is_late_with_the_next_move_even_without_a_limit() -> None:
    for limit in ("PT30M", None):
        found = having(REFUSED, limit)
        assert found.condition is Condition.BEHIND
        assert "refused: others wrote to it. `sluice rebuild p`" in found.reason
    assert [each.limit for each in breaches(having(REFUSED))] == ["max_lag"]
    assert told(having(REFUSED)) == {"refused": 1}


@pytest.mark.parametrize("state", [NEVER_MADE, UNKNOWN])
def test_what_is_unknown_exceeds_the_limit_and_is_never_zero(state: StateStatus) -> None:
    found = having(state)
    assert [each.limit for each in breaches(found)] == ["max_lag"]
    assert found.condition is Condition.BEHIND
    assert {"behind_versions", "behind_seconds"}.isdisjoint(told(found))


def test_unread_records_and_a_late_state_exceed_the_limit_once() -> None:
    both = replace(having(LATE), lags=(lag(5, timedelta(hours=2)),))
    assert [each.limit for each in breaches(both)] == ["max_lag"]
