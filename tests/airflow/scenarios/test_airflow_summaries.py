"""What a real Airflow shows of a run without a log: its note, its links; and the log's levels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local.embedded.airflow_client import DagRun
from tests.airflow.scenarios.conftest import SCHEMA
from tests.worlds.deployment import RUN_SECONDS, Deployment

pytestmark = [pytest.mark.integration, pytest.mark.airflow]


@pytest.fixture(scope="module")
def noted(deployments: dict[str, Deployment]) -> Deployment:
    deployments["noted"].unpause()
    return deployments["noted"]


def note(noted: Deployment, run: DagRun) -> str:
    return str(noted.client.request("GET", run.path)["note"])


def links(noted: Deployment, run: DagRun, task_id: str) -> Any:
    path = f"{run.path}/taskInstances/{task_id}/links"
    return noted.client.request("GET", path)["extra_links"]


def levels(noted: Deployment, run: DagRun, task_id: str) -> dict[str, str]:
    """The level of each line of a task's log."""
    number = noted.client.tasks(run)[task_id].try_number
    reply = noted.client.request("GET", f"{run.path}/taskInstances/{task_id}/logs/{number}")
    return {str(each["event"]): str(each.get("level")).lower() for each in reply["content"]}


def test_the_note_and_the_links_of_a_run_tell_its_batch(noted: Deployment) -> None:
    noted.produce(10)
    run = noted.run()
    plan, ingest, settle = note(noted, run).splitlines()
    assert plan == "- plan: forward-1-1: noted[0] [0, 5), noted[1] [0, 5): 10 offsets"
    assert ingest == "- ingest: done: forward-1-1"
    counts = "- settle: forward-1-1: 10 records, 0 quarantined, 0 gaps, lag left 0; complete until "
    assert settle.startswith(counts)
    for task_id in ("plan", "ingest", "settle"):
        found = links(noted, run, task_id)
        assert found["Pipeline in Kafka offsets"] == "/sluice/pipelines/noted", task_id
        assert found["Batch"] == "/sluice/pipelines/noted/batches/forward-1-1", task_id
    noted.assert_exact(fmt="json", schema=SCHEMA)


def test_a_run_with_nothing_new_tells_where_the_cursor_stands(noted: Deployment) -> None:
    run = noted.run()
    first, *_ = note(noted, run).splitlines()
    assert first == "- plan: nothing new: cursor at noted[0]@5, noted[1]@5"
    assert links(noted, run, "plan")["Batch"] is None


def test_a_run_that_is_cleared_keeps_what_it_has_told(noted: Deployment) -> None:
    noted.produce(6)
    run = noted.run()
    before = note(noted, run).splitlines()
    assert "6 records" in before[-1]
    noted.client.clear(run)
    noted.succeeds(run)
    now = note(noted, run).splitlines()
    assert now[: len(before)] == before
    assert now[len(before)].startswith("- plan, again: nothing new: cursor at noted[0]@8")


def test_a_note_that_a_person_has_written_stays(noted: Deployment) -> None:
    run = noted.run()
    noted.client.request("PATCH", run.path, json={"note": "looked at, all well"})
    noted.client.clear(run)
    noted.succeeds(run)
    assert note(noted, run) == "looked at, all well"


def test_a_failed_ingest_has_its_error_in_the_note_and_as_errors_in_the_log(
    noted: Deployment,
) -> None:
    noted.produce_malformed(4)
    run = noted.client.wait_for_run(noted.trigger(), RUN_SECONDS)
    assert noted.states(run)["ingest"] == "failed"
    _, ingest = note(noted, run).splitlines()
    assert ingest.startswith("- ingest: failed: JobRefused: The Spark job ended with exit code 3:")
    assert "TooManyQuarantined: forward-1-3: 4 of 4 records are undecodable" in ingest
    found = levels(noted, run, "ingest")
    errors = [text for text, level in found.items() if level == "error"]
    for part in ("4 of 4 records", "noted[0]@8: ", "raise one of the two limits, and run again."):
        assert any(part in text for text in errors), (part, found)
    log = noted.client.log(run, "ingest")
    carried = [text for text in log.splitlines() if "AirflowFailException" in text]
    assert carried
    assert "raise one of the two limits" in json.dumps(carried)
