"""`sluice history` of a pipeline with a state table: its refreshes, below the batches."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.operations.rebuild import rebuild

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed
from tests.worlds.states import keyed, put, refreshed, state_table

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two refreshes, of two batches."""
    trips = keyed(topic, pipeline)
    for value in ("a", "b"):
        put(trips, 1, value)
        put(trips, 2, value, partition=1)
        put(trips, 2, value, partition=1)
        trips.run()
        refreshed(trips)
    return trips


def told(trips: Installed, *options: str) -> tuple[list[str], dict[str, Any]]:
    """The lines from the state table's heading on, and the same for programs."""
    shown, document = trips.sluice("history", *options), trips.sluice("history", *options, "--json")
    assert (shown.returncode, document.returncode) == (0, 0), shown.stderr
    heading = "trips: newest refreshes of the state table"
    _, _, below = shown.stdout.partition(f"{heading}\n")
    return below.splitlines(), json.loads(document.stdout)


def test_each_refresh_is_told_with_the_versions_that_it_followed_and_what_it_did(
    trips: Installed,
) -> None:
    lines, found = told(trips)
    first, second = found["state"]["refreshes"]
    at = trips.version()
    assert at is not None
    spans = [(each["kind"], each["data_version"]) for each in (first, second)]
    assert spans == [("everything", at - 1), ("appended", at)]
    assert (second["after"], second["version"]) == (
        at - 1,
        DeltaTable(state_table(trips)).version(),
    )
    assert (second["updated"], second["superseded"], second["inserted"]) == (2, 1, 0)
    assert second["committed_at"] > first["committed_at"] > "2026"
    rows = [re.split(r" {2,}", line.strip()) for line in lines[1:]]
    assert [cells[1:3] for cells in rows] == [
        [f"all of version {at - 1}", "2 inserted, 1 superseded"],
        [f"version {at}", "2 updated, 1 superseded"],
    ]
    lines, found = told(trips, "-n", "1")
    assert found["state"]["refreshes"] == [second]
    assert len(lines) == 2


def test_a_rebuild_is_told_and_what_others_did_is_not(trips: Installed) -> None:
    DeltaTable(state_table(trips)).delete("id = 1")
    opened = trips.open()
    rebuild(opened.resources, opened.open_state)
    _, found = told(trips)
    newest = found["state"]["refreshes"][-1]
    assert (newest["kind"], newest["inserted"]) == ("everything", 2)
    assert len(found["state"]["refreshes"]) == 3


def test_batches_are_told_where_the_state_table_cannot_be_read(trips: Installed) -> None:
    log = sorted((state_table(trips) / "_delta_log").glob("*.json"))
    log[0].write_text("{", encoding="utf-8")
    _, found = told(trips)
    assert [each["batch"] for each in found["batches"]] == ["forward-1-1", "forward-1-2"]
    assert found["state"]["refreshes"] == []
    assert "trips__state" in found["state"]["unknown"]
    assert "state table: unknown: " in trips.sluice("history").stdout


def test_a_pipeline_without_a_state_table_says_nothing_of_one(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic()), batches=1)
    assert "state" not in trips.sluice("history").stdout
    assert "state" not in json.loads(trips.sluice("history", "--json").stdout)
