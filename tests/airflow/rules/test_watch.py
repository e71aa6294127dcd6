"""The DAG that watches: one task, often, about all pipelines; and lineage that nobody asked for."""

from __future__ import annotations

import json
import subprocess
import sys

from airflow.providers.openlineage import conf
from airflow.providers.openlineage.plugins.openlineage import OpenLineageProviderPlugin
from airflow.sdk import CronDataIntervalTimetable

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


LOADED = """
import json, sys
from sluice.scheduling.lineage import read_for_lineage
assert read_for_lineage(None, None) is None
print(json.dumps(sorted(sys.modules)))
"""


def test_without_a_transport_lineage_is_silent_and_reads_and_loads_nothing():
    assert conf.is_disabled()
    assert OpenLineageProviderPlugin.listeners == []
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert [each for each in loaded if each.startswith("openlineage")] == []
