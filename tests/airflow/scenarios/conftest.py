"""One real Airflow for all scenarios: each of its pipelines is one file's.

Its database is PostgreSQL, as in production. SQLite, of one writer at a time, lets a request that
met another one fail half done, and may stay locked from then on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.worlds.backfill_runs import HOURLY
from tests.worlds.deployment import KEEPING_ALL, Deployment, deployed
from tests.worlds.postgres import Postgres
from tests.worlds.processes import JAVA_TUNING

SCHEMA = "number BIGINT"
SPECS: dict[str, dict[str, object]] = {
    "hours": HOURLY,
    "slow": HOURLY | {"max_records_per_batch": 4},
    "trips": {},
    "told": {},
    "rewound": {},
    "noted": {"format": {"type": "json", "schema": SCHEMA}, "quarantine": {"max_records": 0}},
    "keyed": {"format": {"type": "json", "schema": SCHEMA}, "state": {"key": ["number"]}},
}
# Cluster policies: as long as a file says where, the settle of `told` ends there. Its retries come
# soon.
POLICIES = """
import os
from datetime import timedelta
from pathlib import Path

def task_policy(task):
    if (task.dag_id, task.task_id) == ("told", "settle"):
        task.retry_delay, task.retry_exponential_backoff = timedelta(seconds=2), 0
        strike = Path(__file__).with_name("strike")
        if strike.exists():
            os.environ.update(SLUICE_TEST="1", SLUICE_FAILPOINT=strike.read_text())
"""


LOCAL = "airflow.dag_processing.bundles.local.LocalDagBundle"
OURS = {"name": "dags-folder", "classpath": LOCAL, "kwargs": {}}


def theirs(folder: Path) -> dict[str, object]:
    """A second folder of DAGs: those that are not Sluice's."""
    return {"name": "own", "classpath": LOCAL, "kwargs": {"path": str(folder)}}


@pytest.fixture(scope="session")
def deployments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Deployment]]:
    folder = tmp_path_factory.mktemp("airflow")
    own_dags = folder / "home" / "own_dags"
    own_dags.mkdir(parents=True)
    bundles = {"dag_processor": {"dag_bundle_config_list": json.dumps([OURS, theirs(own_dags)])}}
    tuned: dict[str, Any] = {"topic": KEEPING_ALL, "policies": POLICIES, "environment": JAVA_TUNING}
    with (
        Postgres() as postgres,
        deployed(folder, SPECS, settings={**postgres.settings, **bundles}, **tuned) as made,
    ):
        yield made
