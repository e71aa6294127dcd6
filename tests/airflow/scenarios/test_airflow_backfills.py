"""A real Airflow reads intervals and batches again: asked by REST, as its forms do, or its CLI.

The tests share the pipelines and build on each other, in this order.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from deltalake import DeltaTable
from sluice.offsets.batches import BatchReference

from local.embedded.airflow_client import AirflowApiError, DagRun
from local.embedded.waiting import until
from tests.oracle.kafka_truth import read_truth
from tests.worlds.backfill_runs import (
    DAY,
    HOURLY,
    backfill,
    contents,
    created,
    hour,
    landed,
    planned,
    position,
    run_of,
    run_of_hour,
    stamps,
)
from tests.worlds.deployment import RUN_SECONDS, Deployment, write_spec
from tests.worlds.recipes import commands_of
from tests.worlds.records import delete_records

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

# Recipes of docs/operations.md.
BACKFILL, FORM = "Backfill past intervals in Airflow", "Read again from the trigger form"


@pytest.fixture(scope="module")
def hours(deployments: dict[str, Deployment]) -> Deployment:
    return landed(deployments["hours"], 32, stamps(0, 4))


def documented(program: str, heading: str, of: Deployment) -> list[str]:
    """A command of docs/operations.md, about this pipeline: there it is called `flights`."""
    (words,) = (words for found, words in commands_of(program) if found == heading)
    return [word.replace("flights", of.pipeline) for word in words]


def ask_as_documented(heading: str, of: Deployment) -> Any:
    """Send what the recipe's `curl` sends, signed in as this client is."""
    words = documented("curl", heading, of)
    path = urlsplit(next(word for word in words if word.startswith("http"))).path
    method, body = (words[words.index(option) + 1] for option in ("-X", "-d"))
    return of.client.request(method, path.removeprefix("/api/v2"), json=json.loads(body))


def backfilled(to: Deployment) -> dict[int, str]:
    """Hour → state of its backfill run."""
    wanted = {run_of_hour(number): number for number in range(24)}
    found = {run.run_id: run.state for run in to.client.runs(to.pipeline)}
    return {wanted[name]: state for name, state in found.items() if name in wanted}


def batches(of: Deployment) -> set[str]:
    return set(DeltaTable(of.data).to_pyarrow_table()["_batch"].to_pylist())


def test_a_backfill_replaces_each_interval_and_the_cursor_stays(hours: Deployment) -> None:
    """Backwards and three at a time; some records are in another interval than their neighbours."""
    before, at = contents(hours), position(hours)
    backfill(hours, 0, 2, run_backwards=True, max_active_runs=3)
    for number in range(3):
        hours.succeeds(run_of(hours, number))
    found = [planned(hours, run_of_hour(number)) for number in range(3)]
    assert [each[0] for each in found] == [(0, 4), (4, 8), (8, 12)]
    # In partition 1 the clocks of neighbours are an hour apart, so that intervals overlap there;
    # what one run is about to read, another does not plan.
    assert {at for each in found for at in range(*each[1])} == set(range(11))
    again = {f"backfill-1-{number}" for number in (1, 2, 3)}
    assert batches(hours) == {"forward-1-1"} | again
    assert contents(hours) == before
    assert position(hours) == at == [16, 16]
    assert set(hours.announced()) >= again
    hours.assert_exact()


def test_what_a_second_backfill_does_with_runs_that_are_there(hours: Deployment) -> None:
    """One has failed: its connection was not defined for a while."""
    spec = hours.specs / "hours.yaml"
    write_spec(spec, "hours", **HOURLY, kafka="elsewhere")
    backfill(hours, 3, 3)
    failed = hours.client.wait_for_run(run_of(hours, 3), RUN_SECONDS)
    assert hours.states(failed) == {
        "plan": "failed",
        "ingest": "upstream_failed",
        "settle": "upstream_failed",
    }
    assert "'elsewhere' is not defined" in hours.client.log(failed, "plan")
    write_spec(spec, "hours", **HOURLY)
    for behavior, expected in {"none": [], "failed": [3], "completed": [0, 1, 2, 3]}.items():
        assert would_run(hours, behavior) == expected
    before, commits = contents(hours), len(hours.commits())
    backfill(hours, 0, 3, reprocess_behavior="none")
    backfill(hours, 0, 3, reprocess_behavior="failed")
    hours.succeeds(run_of(hours, 3))
    assert backfilled(hours) == dict.fromkeys(range(4), "success")
    assert len(hours.commits()) == commits + 1
    assert planned(hours, failed) == {0: (12, 16), 1: (9, 15)}
    assert contents(hours) == before
    hours.assert_exact()


def would_run(of: Deployment, behavior: str) -> list[int]:
    """The hours of which Airflow's own preview says that they would run."""
    span = {"from_date": hour(0).isoformat(), "to_date": hour(3).isoformat()}
    body = {"dag_id": of.pipeline, **span, "reprocess_behavior": behavior}
    found = of.client.request("POST", "/backfills/dry_run", json=body)["backfills"]
    dates = [datetime.fromisoformat(each["logical_date"]) for each in found]
    return [(date - DAY) // timedelta(hours=1) for date in dates]


def test_what_is_above_the_cursor_is_left_to_the_forward_lane(hours: Deployment) -> None:
    hours.produce(4, stamps(6, 7))
    before = contents(hours)
    backfill(hours, 6, 6)
    run = hours.succeeds(run_of(hours, 6))
    assert hours.states(run) == {"plan": "success", "ingest": "skipped", "settle": "skipped"}
    said = hours.client.log(run, "plan")
    assert "hours[0] [16, 18): not read again: it is above the cursor: the forward lane" in said
    assert contents(hours) == before


def test_a_paused_one_waits_and_a_cancelled_one_is_finished_by_the_next(hours: Deployment) -> None:
    before, plans = contents(hours), len(hours.offsets("planned"))
    hours.client.pause("hours")
    number = created(hours, lambda: ask_as_documented(BACKFILL, hours)["id"])
    hours.client.change_backfill(number, "pause")
    hours.unpause()
    # A forward run comes and goes, with what was above the cursor.
    assert planned(hours, hours.run()) == {0: (16, 18), 1: (16, 18)}
    assert {backfilled(hours)[each] for each in (0, 1)} == {"queued"}
    hours.client.change_backfill(number, "unpause")
    spark = until(hours.spark, "Spark", RUN_SECONDS)
    assert (run_of(hours, 0).state, run_of(hours, 1).state) == ("running", "queued")
    hours.client.change_backfill(number, "cancel")
    hours.client.set_state(run_of(hours, 0), "ingest", "failed")
    assert not psutil.wait_procs(spark, timeout=60)[1]
    assert hours.client.wait_for_run(run_of(hours, 0), RUN_SECONDS).state == "failed"
    assert run_of(hours, 1).state == "failed"
    assert set(hours.states(run_of(hours, 1)).values()) == {None}
    assert len(hours.offsets("planned")) == plans + 2 + 2
    backfill(hours, 1, 1, reprocess_behavior="failed")
    finished = hours.succeeds(run_of(hours, 1))
    assert len(numbers(hours, finished)) == 2
    assert set(contents(hours)) > set(before)
    hours.assert_exact()


def numbers(hours: Deployment, run: DagRun) -> range:
    """The numbers of the batches that a run's `plan` has handed on."""
    return BatchReference.from_dict(hours.work(run)).batches


def test_a_finished_run_that_is_cleared_repeats_itself(hours: Deployment) -> None:
    before, commits = contents(hours), len(hours.commits())
    run = run_of(hours, 1)
    first = numbers(hours, run)
    hours.client.clear(run)
    hours.succeeds(run)
    assert list(numbers(hours, run)) == [first[-1] + 1]
    assert len(hours.commits()) == commits + 1
    assert contents(hours) == before
    hours.assert_exact()


def test_the_form_offers_typed_bounded_and_described_parameters(hours: Deployment) -> None:
    offered = hours.client.request("GET", "/dags/hours/details")["params"]
    assert list(offered) == [
        "dry_run",
        *(f"reprocess_{name}" for name in ("from", "to", "ranges", "batches")),
        "bring_back_erased",
    ]
    for param in offered.values():
        assert param["schema"]["title"]
        assert param["description"]
        assert param["schema"]["type"]


REFUSED: list[dict[str, Any]] = [
    {"dry_run": "yes"},
    {"reprocess_from": "yesterday"},
    {"reprocess_ranges": "hours[0] [0, 4)"},
    {"reprocess_ranges": ["x" * 513]},
    {"reprocess_ranges": ["hours[0] [0, 4)"] * 1001},
    {"reprocess_batches": [1]},
]


def test_a_parameter_of_another_form_is_refused_before_there_is_a_run(hours: Deployment) -> None:
    runs = {run.run_id for run in hours.client.runs("hours") if run.run_id.startswith("manual")}
    for conf in REFUSED:
        with pytest.raises(AirflowApiError, match=": 400 "):
            hours.client.trigger("hours", conf)
    with pytest.raises(AirflowApiError, match=": 422 "):
        backfill(hours, 0, 0, dag_run_conf=REFUSED[0], reprocess_behavior="completed")
    found = {run.run_id for run in hours.client.runs("hours")}
    assert {name for name in found if name.startswith("manual")} == runs


def test_a_dry_run_shows_what_it_would_read_and_writes_nothing(hours: Deployment) -> None:
    tables = [hours.data, hours.warehouse / f"{hours.data.name}__offsets"]
    versions = [DeltaTable(table).version() for table in tables]
    window = {"reprocess_from": hour(1).isoformat(), "reprocess_to": hour(2).isoformat()}
    cases: list[tuple[dict[str, Any], list[str]]] = [
        (window, ["[4, 8)", "[1, 7)"]),
        ({"reprocess_ranges": ["hours[1] [3, 7)"]}, ["[3, 7)"]),
        ({"reprocess_batches": ["forward-1-1"]}, ["[0, 16)"]),
    ]
    for asked, expected in cases:
        run = hours.succeeds(hours.client.trigger("hours", {**asked, "dry_run": True}))
        assert set(hours.states(run).values()) == {"skipped"}
        said = hours.client.log(run, "plan")
        assert all(each in said for each in expected), said
    assert [DeltaTable(table).version() for table in tables] == versions


def test_a_manual_run_reads_batches_again(hours: Deployment) -> None:
    before, at = contents(hours), position(hours)
    run = hours.succeeds(DagRun.of(ask_as_documented(FORM, hours)))
    assert hours.work(run)["lane"] == "backfill"
    (number,) = numbers(hours, run)
    assert batches(hours) == {"forward-1-2", f"backfill-1-{number}"}
    assert (contents(hours), position(hours)) == (before, at)
    hours.assert_exact()


def test_a_parameter_that_nobody_knows_fails_the_run(hours: Deployment) -> None:
    """Airflow lets it pass; a mistyped name would else read what is new instead."""
    run = hours.client.trigger("hours", {"reprocess_batch": ["forward-1-1"]})
    assert hours.client.wait_for_run(run, RUN_SECONDS).state == "failed"
    said = hours.client.log(run, "plan")
    assert "reprocess_batch" in said
    assert "allowed: dry_run, reprocess_from" in said


def test_a_backfill_of_what_kafka_no_longer_holds_deletes_nothing(hours: Deployment) -> None:
    """Asked for with Airflow's command line."""
    before = contents(hours)
    remembered = read_truth(hours.broker.bootstrap, ["hours"])
    delete_records(hours.broker.bootstrap, "hours", 4, 0)
    delete_records(hours.broker.bootstrap, "hours", 3, 1)
    backfill_with_cli(hours)
    run = hours.succeeds(run_of(hours, 0))
    assert hours.states(run) == {"plan": "success", "ingest": "skipped", "settle": "skipped"}
    said = hours.client.log(run, "plan")
    for gone in ("hours[0] [0, 4)", "hours[1] [0, 3)"):
        assert f"{gone}: not read again: Kafka no longer holds it; the rows that are" in said
    assert contents(hours) == before
    hours.assert_exact(remembered=remembered)


def backfill_with_cli(to: Deployment) -> None:
    """The first hour, as docs/operations.md says it."""
    airflow, *words = documented("airflow", BACKFILL, to)

    def create() -> bool:
        done = subprocess.run(
            [sys.executable, "-P", "-m", airflow, *words],
            env=to.airflow.environment(),
            check=False,
            capture_output=True,
            timeout=120,
        )
        return done.returncode == 0

    created(to, create)
