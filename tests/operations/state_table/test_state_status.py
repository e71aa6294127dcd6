"""`sluice status` of a pipeline with a state table: where it stands, and why it does not follow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.worlds.keyed import keyed, put, state_sql
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def told(trips: Installed) -> tuple[str, dict[str, Any]]:
    """The line about the state, and the same as JSON."""
    lines = trips.sluice("status").stdout.splitlines()
    found = json.loads(trips.sluice("status", "--json").stdout)["state"]
    return next(line for line in lines if line.startswith("state table: ")), found


def test_a_state_is_told_before_it_is_made_when_it_is_behind_and_when_it_is_refused(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = keyed(topic, pipeline)
    put(trips, 1, {"v": "a"})
    trips.run()
    line, found = told(trips)
    assert line == "state table: not made yet: the next run makes it, or says why not."
    assert (found["stands_at"], found["last_refresh"], found["refused"]) == (None, None, None)
    trips.open().refresh()
    at, counts = trips.version(), {"inserted": 1}
    line, found = told(trips)
    assert line == f"state table: at version {at} of the data table; last refresh: 1 inserted."
    assert (found["stands_at"], found["behind"], found["behind_since"]) == (at, 0, None)
    assert {name: count for name, count in found["last_refresh"].items() if count} == counts
    put(trips, 1, {"v": "b"})
    trips.run()
    line, found = told(trips)
    assert (found["stands_at"], found["behind"]) == (at, 1)
    assert found["behind_since"]
    assert f"at version {at} of the data table, 1 version behind since 20" in line
    state_sql(trips, "DELETE FROM {state} WHERE _key_id = 1")
    line, found = told(trips)
    assert line.startswith("state table: refused: ")
    assert "found a DELETE" in found["refused"]
    assert "`sluice rebuild trips`" in found["refused"]
    assert (found["stands_at"], found["behind"]) == (None, None)


@pytest.mark.deciding
def test_a_pipeline_without_a_state_table_says_nothing_of_one(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic()), batches=1)
    assert "state table" not in trips.sluice("status").stdout
    assert "state" not in json.loads(trips.sluice("status", "--json").stdout)
