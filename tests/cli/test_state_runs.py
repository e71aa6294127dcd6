"""`sluice run` and `sluice rebuild` of a pipeline with a state table, as processes of their own."""

from __future__ import annotations

import json

import pytest
from deltalake import DeltaTable

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.states import STATE, is_right, keyed, put

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def test_a_run_brings_the_state_table_along(topic: Topic, pipeline: Pipelines) -> None:
    trips = keyed(topic, pipeline)
    put(trips, 1, "a")
    put(trips, 1, "b")
    put(trips, 2, "c", partition=1)
    ran = trips.process("run")
    said = f"trips: state: versions 0 to {trips.version()} of the data table: 2 inserted"
    assert ran.returncode == 0, ran.stderr
    assert f"{said}, 1 superseded" in ran.stdout.splitlines()
    assert is_right(trips)
    # No Spark: that would need a process.
    again = trips.sluice("run")
    assert (again.returncode, again.stdout) == (0, "trips: nothing new\n"), again.stderr
    # Nothing is new in Kafka, but others have deleted a row of the data table.
    DeltaTable(trips.data).delete("v = 'b'")
    behind = trips.process("run", "--json")
    assert behind.returncode == 0, behind.stderr
    found = json.loads(behind.stdout)
    (span,) = found["state"]
    assert (found["settled"], span["kind"], span["updated"]) == ([], "rewritten", 1)
    assert is_right(trips)


def test_a_state_that_cannot_follow_fails_the_run_when_all_else_is_done(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = keyed(topic, pipeline)
    put(trips, 1, "a")
    put(trips, 1, "b", partition=1)
    ran = trips.process("run", "--json")
    assert ran.returncode == 1
    found = json.loads(ran.stdout)
    assert ([each["records"] for each in found["settled"]], found["state"]) == ([2], [])
    assert "order_by" in ran.stderr
    assert "`sluice rebuild trips --execute`" in ran.stderr
    assert len(trips.rows()) == 2
    trips.write_spec(state={**STATE, "order_by": ["_timestamp"]})
    made = trips.process("rebuild", "--execute")
    assert made.returncode == 0, made.stderr
    assert "trips: state: made anew from version" in made.stdout
    trips.write_spec(state={**STATE, "order_by": ["v"]})
    refused = trips.sluice("run")
    assert refused.returncode == 1
    assert refused.stdout == "trips: nothing new\n"
    assert "`sluice rebuild trips` shows how it is made anew" in refused.stderr
