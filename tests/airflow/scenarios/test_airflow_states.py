"""A real Airflow's task `refresh`: the state follows the log, and its stop holds nothing back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from local.embedded.airflow_client import DagRun
from tests.airflow.scenarios.conftest import SCHEMA, SPECS
from tests.oracle import judge_state
from tests.worlds.deployment import RUN_SECONDS, Deployment, write_spec
from tests.worlds.state_rules import rules_of

pytestmark = [pytest.mark.integration, pytest.mark.airflow]
ALL = dict.fromkeys(("plan", "ingest", "settle", "refresh"), "success")
ORDER = {"order_by": ["_timestamp"]}


@pytest.fixture(scope="module")
def keyed(deployments: dict[str, Deployment]) -> Deployment:
    deployments["keyed"].unpause()
    return deployments["keyed"]


def state_violations(keyed: Deployment, **state: Any) -> list[str]:
    """What the oracle finds in the state table, which `state` was added to the rules of."""
    rules = rules_of({"state": {"key": ["number"], **state}}, keyed.data)
    return judge_state(keyed.warehouse, "keyed", "keyed", rules, anew=bool(state))


def events(keyed: Deployment) -> list[dict[str, Any]]:
    """What the events of the state table's asset have said, oldest first."""
    query = {"source_dag_id": "keyed", "source_task_id": "refresh", "order_by": "timestamp"}
    found = keyed.client.request("GET", "/assets/events", params=query)["asset_events"]
    assert {each["name"] for each in found} == {"sluice/keyed__state"}
    return [each["extra"] for each in found]


def last_line(keyed: Deployment, run: DagRun) -> str:
    return str(keyed.client.request("GET", run.path)["note"]).splitlines()[-1]


def test_a_run_brings_the_state_up_to_date_and_tells_it(keyed: Deployment) -> None:
    keyed.produce(10)
    run = keyed.run()
    assert keyed.states(run) == ALL
    (event,) = events(keyed)
    assert (event["inserted"], event["updated"]) == (10, 0)
    keyed.assert_exact(fmt="json", schema=SCHEMA)
    assert state_violations(keyed) == []


def test_a_state_without_an_order_stops_alone_and_goes_on_as_its_message_says(
    keyed: Deployment,
) -> None:
    keyed.produce_elsewhere(4)
    run = keyed.client.wait_for_run(keyed.trigger(), RUN_SECONDS)
    assert (run.state, keyed.states(run)) == ("failed", {**ALL, "refresh": "failed"})
    assert "StateStopped" in (said := last_line(keyed, run))
    assert "state: {order_by: [_timestamp]}" in said
    keys = {**SPECS["keyed"], "state": {"key": ["number"], **ORDER}}
    write_spec(keyed.specs / "keyed.yaml", "keyed", **keys)
    rebuild = [str(Path(sys.executable).with_name("sluice")), "rebuild", "keyed", "--execute"]
    subprocess.run(rebuild, env=keyed.airflow.environment(), check=True, timeout=RUN_SECONDS)
    keyed.client.clear(run, "refresh")
    assert keyed.succeeds(run).state == "success"
    assert keyed.states(run) == ALL
    keyed.assert_exact(fmt="json", schema=SCHEMA)
    assert state_violations(keyed, **ORDER) == []


def test_rows_that_others_delete_leave_the_state_without_new_records(keyed: Deployment) -> None:
    """No batch is planned: `refresh` starts a Spark of its own."""
    keyed.assert_exact(fmt="json", schema=SCHEMA)
    DeltaTable(str(keyed.data)).delete("number = 3")
    run = keyed.run()
    assert keyed.states(run) == {**ALL, **dict.fromkeys(("ingest", "settle"), "skipped")}
    assert events(keyed)[-1]["deleted"] == 1
    assert state_violations(keyed, **ORDER) == []
