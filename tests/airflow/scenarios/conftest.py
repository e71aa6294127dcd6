"""One real Airflow for all scenarios: each of its pipelines is one file's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.worlds.backfill_runs import HOURLY
from tests.worlds.deployment import KEEPING_ALL, Deployment, deployed
from tests.worlds.processes import JAVA_TUNING

SPECS: dict[str, dict[str, object]] = {
    "hours": HOURLY,
    "slow": HOURLY | {"max_records_per_batch": 4},
    "trips": {},
}


@pytest.fixture(scope="session")
def deployments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Deployment]]:
    folder = tmp_path_factory.mktemp("airflow")
    with deployed(folder, SPECS, topic=KEEPING_ALL, environment=JAVA_TUNING) as made:
        yield made
