"""A real Airflow's asset events: every batch in one, whatever becomes of the task that tells it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from local.embedded.airflow_client import DagRun
from local.embedded.waiting import until
from tests.worlds.deployment import RUN_SECONDS, Deployment
from tests.worlds.recipes import recipes

pytestmark = [pytest.mark.integration, pytest.mark.airflow]


@pytest.fixture(scope="module")
def told(deployments: dict[str, Deployment]) -> Deployment:
    deployments["told"].unpause()
    return deployments["told"]


@contextmanager
def struck(told: Deployment, failpoint: str) -> Iterator[None]:
    """Settle ends there, receipts written and no event stored: see the policies in conftest."""
    strike = told.airflow.folder / "config" / "strike"
    strike.write_text(failpoint)
    yield
    strike.unlink()


def tried_again(told: Deployment, run: DagRun) -> bool:
    settle = told.client.tasks(run).get("settle")
    return settle is not None and settle.state == "up_for_retry"


def test_what_a_failed_run_has_settled_is_announced_by_the_next(told: Deployment) -> None:
    """The first run of all, so that there is no event to go by; the next has nothing to read."""
    told.produce(10)
    with struck(told, "after mirror: raise"):
        failed = told.client.wait_for_run(told.trigger(), RUN_SECONDS)
    assert failed.state == "failed"
    assert len({row["batch"] for row in told.offsets("committed")}) == 1
    assert told.announced() == []
    told.produce(10)
    with struck(told, "after mirror: raise"):
        assert told.client.wait_for_run(told.trigger(), RUN_SECONDS).state == "failed"
    following = told.run()
    assert told.states(following) == {"plan": "success", "ingest": "skipped", "settle": "success"}
    assert told.announced() == ["forward-1-1", "forward-1-2"]


def test_a_settle_that_is_killed_before_its_event_tells_it_when_tried_again(
    told: Deployment,
) -> None:
    before = told.announced()
    told.produce(10)
    with struck(told, "after mirror: kill"):
        run = told.trigger()
        until(lambda: tried_again(told, run), "a settle that was killed", RUN_SECONDS)
        assert told.announced() == before
    told.succeeds(run)
    assert told.announced() == [*before, "forward-1-3"]


def test_a_finished_run_that_is_cleared_announces_nothing_again(told: Deployment) -> None:
    before = told.announced()
    run = told.client.runs(told.pipeline)[-1]
    for cleared in ([], ["settle"]):
        told.client.clear(run, *cleared)
        told.succeeds(run)
        assert told.states(run)["settle"] == "skipped"
    assert told.announced() == before
    assert len(before) == len(told.commits())
    told.assert_exact()


def test_a_dag_of_ones_own_runs_when_there_are_new_rows(told: Deployment) -> None:
    """The file of the recipe, as it is on the page except for the pipeline's name."""
    (block,) = recipes()["Schedule your own DAG on a table"]
    own = told.airflow.folder / "own_dags" / "flights_report.py"
    own.write_text(block.text.replace('data_table("flights")', 'data_table("told")'))
    told.client.wait_for_dag("flights_report")
    told.client.unpause("flights_report")
    told.run()
    assert told.client.runs("flights_report") == [], "there was nothing new"
    told.produce(10)
    told.run()
    (run,) = until(lambda: told.client.runs("flights_report"), "the DAG's run", RUN_SECONDS)
    told.succeeds(run)
    assert f"{told.announced()[-1]}: 10 new records" in told.client.log(run, "report")
