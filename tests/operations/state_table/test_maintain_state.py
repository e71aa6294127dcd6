"""`sluice maintain` of a state table: fewer files, no marked rows, and trusted as before."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.worlds.keyed import keyed, put, state_rows, state_sql
from tests.worlds.pipelines import Installed, Pipelines, Topic

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline whose state table was written by three refreshes."""
    trips = keyed(topic, pipeline)
    for number, value in enumerate("abc"):
        for key in (1, 2, 10 + number):
            put(trips, key, {"v": value})
        trips.run()
        trips.open().refresh()
    return trips


def newest_commit(trips: Installed) -> Path:
    return max((trips.warehouse / "trips__state" / "_delta_log").glob("*.json"))


def marked(trips: Installed) -> int:
    """The files of the state table with rows that are only marked as deleted."""
    log = trips.warehouse / "trips__state" / "_delta_log"
    files: dict[str, bool] = {}
    for version in range(DeltaTable(log.parent).version() + 1):
        lines = (log / f"{version:020d}.json").read_text(encoding="utf-8").splitlines()
        actions = [json.loads(line) for line in lines]
        # A file whose rows were marked is removed and added by one commit.
        for gone in (each["remove"] for each in actions if "remove" in each):
            files.pop(gone["path"], None)
        for there in (each["add"] for each in actions if "add" in each):
            files[there["path"]] = bool(there.get("deletionVector"))
    return sum(files.values())


def test_a_state_table_is_compacted_and_purged_and_goes_on(trips: Installed) -> None:
    before = state_rows(trips)
    assert marked(trips)
    done = trips.open().maintain("test", "pytest")
    assert list(done.compacted)[-1] == str(trips.warehouse / "trips__state")
    assert done.compacted[str(trips.warehouse / "trips__state")].removed > 1
    assert done.postponed == ()
    assert marked(trips) == 0
    assert state_rows(trips) == before
    trips.judge_state()
    put(trips, 1, None)
    trips.run()
    (followed,) = trips.open().refresh()
    assert followed.counts.deleted == 1
    trips.judge_state()


def refused(trips: Installed) -> str:
    state_sql(trips, "DELETE FROM {state} WHERE _key_id = 1")
    return "expected rows that only Sluice writes"


def unreadable(trips: Installed) -> str:
    newest_commit(trips).write_text("nothing of a log")
    return "its log cannot be read"


@pytest.mark.parametrize("damage", [refused, unreadable])
def test_a_state_table_that_is_not_trusted_is_left_alone(
    trips: Installed, damage: Callable[[Installed], str], caplog: pytest.LogCaptureFixture
) -> None:
    why = damage(trips)
    newest = newest_commit(trips)
    with caplog.at_level(logging.WARNING):
        done = trips.open().maintain("test", "pytest")
    assert [*done.compacted] == [str(trips.data), f"{trips.data}__quarantine"]
    assert newest_commit(trips) == newest
    assert f"not maintained: {trips.warehouse / 'trips__state'}: {why}" in caplog.text
