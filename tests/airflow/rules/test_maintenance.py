"""The maintenance DAG: a task for every accepted pipeline, told what it needs and no more."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowSkipException, ParamValidationError
from sluice.settings import LONGEST_RUN

DAG = "sluice_maintenance"


@pytest.fixture
def maintenance(write_spec, parse):
    write_spec("flights")
    write_spec("weather")
    (write_spec("broken")).write_text("version: 1\n", encoding="utf-8")
    return parse().dags[DAG]


def test_every_accepted_pipeline_has_a_task_and_they_take_turns(maintenance):
    assert {task.task_id for task in maintenance.tasks} == {"maintain_flights", "maintain_weather"}
    assert maintenance.max_active_tasks == 1
    assert maintenance.max_active_runs == 1


def test_without_a_pipeline_there_is_no_dag(specs, parse):
    assert DAG not in parse().dags


def test_it_ends_and_is_retried(maintenance):
    for task in maintenance.tasks:
        assert task.execution_timeout <= LONGEST_RUN
        assert task.retries >= 1


def test_no_ingest_runs_longer_than_vacuum_waits(maintenance, parse):
    ingest = parse().dags["flights"].get_task("ingest")
    assert ingest.execution_timeout <= LONGEST_RUN <= timedelta(days=7)


def test_scheduled_runs_are_about_all_pipelines_and_others_are_refused(maintenance):
    assert maintenance.params["pipelines"] == ["flights", "weather"]
    param = maintenance.params.get_param("pipelines")
    assert param.resolve(["weather"]) == ["weather"]
    for wrong in (["nobody"], [], ["weather", "weather"], "weather"):
        with pytest.raises(ParamValidationError):
            param.resolve(wrong)


def test_a_pipeline_that_the_run_is_not_about_is_skipped(maintenance):
    task = maintenance.get_task("maintain_flights")
    with pytest.raises(AirflowSkipException, match="flights: not among"):
        task.execute({"params": {"pipelines": ["weather"]}, "dag_run": SimpleNamespace()})
