"""The DAG that watches: one task, often, about all pipelines; and lineage that nobody asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from airflow.providers.openlineage import conf
from airflow.providers.openlineage.plugins.openlineage import OpenLineageProviderPlugin
from airflow.sdk import CronDataIntervalTimetable
from airflow.sdk.exceptions import AirflowFailException
from sluice.errors import SettingsError
from sluice.operations.overview.breaches import breaches
from sluice.scheduling.deployment import deployed_fleet
from sluice.scheduling.page.clusters import deployed_clusters
from sluice.scheduling.run_notes import SUMMARY
from sluice.scheduling.watch import calls_of, watch_in

from tests.airflow.rules.test_run_notes import Task
from tests.unit.operations.overview.test_overview import MINUTE, lag, overview

DAG = "sluice_watch"


def test_it_looks_often_once_at_a_time_and_never_at_the_past(write_spec, parse):
    write_spec("flights")
    dag = parse().dags[DAG]
    assert isinstance(dag.timetable, CronDataIntervalTimetable)
    assert dag.timetable.expression == "*/5 * * * *"
    assert dag.catchup is False
    assert dag.max_active_runs == 1
    (task,) = dag.tasks
    assert task.retries == 0
    assert task.execution_timeout is not None


def test_without_a_pipeline_there_is_no_dag(specs, parse):
    assert DAG not in parse().dags


def test_with_nothing_but_a_refused_spec_there_is_one_and_it_calls(specs, parse):
    (specs / "flights.yaml").write_text("version: 2\n")
    assert DAG in parse().dags
    task = Task()
    with pytest.raises(AirflowFailException, match=r"^refused: .*flights\.yaml: "):
        watch_in(specs)(ti=task)
    note = json.loads(task.xcoms[SUMMARY])["said"]
    assert note.startswith("0 stopped, 0 unknown, 0 behind, 0 fresh; refused: ")


@pytest.mark.parametrize("extra", ["[1]", "{bad"])
def test_a_broken_connection_is_told_of_its_own_pipelines(write_spec, specs, monkeypatch, extra):
    broken = json.dumps({"conn_type": "kafka", "extra": extra})
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_BAD", broken)
    write_spec("good")
    write_spec("bad", kafka="kafka_bad")
    with pytest.raises(SettingsError, match="kafka_bad"):
        deployed_fleet(specs).of("bad")
    clusters = deployed_clusters()()
    assert set(clusters.by_connection) == {"kafka_default", "kafka_bad"}
    with pytest.raises(SettingsError, match="kafka_bad"):
        clusters.resources("bad")


def test_a_limit_is_told_with_the_cause_once():
    limited: dict[str, Any] = {"alerts": {"max_lag": "PT30M", "max_silence": "PT2H"}}
    name = overview().spec.pipeline
    gone = overview(lag(5, 45 * MINUTE), refused="The topic is gone: reset.", **limited)
    late, cause = calls_of([gone])
    assert late == f"{name}: {breaches(gone)[0]}"
    assert cause == f"{name}: stopped: The topic is gone: reset."
    silent = overview(asked=False, problem="broker:9092 did not answer.", **limited)
    others = [silent, overview(asked=False, problem=silent.problem, pipeline="tours", **limited)]
    assert [each.count("did not answer") for each in calls_of(others)] == [0, 0, 0, 0, 1]


def test_a_stopped_pipeline_calls_only_if_its_spec_wants_to():
    quiet = overview(lag(0), refused="The topic is gone: reset.")
    assert list(calls_of([quiet])) == []
    limited = overview(lag(0), refused=quiet.refused, alerts={"max_quarantine": 0.5})
    (told,) = calls_of([limited])
    assert told.endswith("stopped: The topic is gone: reset.")
    assert list(calls_of([overview(lag(0), alerts={"max_quarantine": 0.5})])) == []


LOADED = """
import json, sys
from sluice.scheduling.lineage import read_for_lineage
assert read_for_lineage(None, None) is None
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.patient
def test_without_a_transport_lineage_is_silent_and_reads_and_loads_nothing():
    assert conf.is_disabled()
    assert OpenLineageProviderPlugin.listeners == []
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert [each for each in loaded if each.startswith("openlineage")] == []
