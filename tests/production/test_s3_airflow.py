"""In Airflow: a run lands in a bucket, and its keys are seen nowhere but in environments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from local.embedded.gateway import BUCKET, Gateway
from local.embedded.waiting import until
from tests.oracle import no_secret
from tests.worlds.deployment import Deployment, deployed
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PIPELINE = "afloat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("airflow")


@pytest.fixture(scope="module")
def deployment(folder: Path, gateway: Gateway) -> Iterator[Deployment]:
    environment = {
        **JAVA_TUNING,
        "SLUICE_WAREHOUSE": f"s3a://{BUCKET}/airflow",
        "AIRFLOW_CONN_SLUICE_WAREHOUSE": gateway.connection(),
    }
    with deployed(folder, {PIPELINE: {}}, environment=environment) as deployments:
        deployments[PIPELINE].warehouse = gateway.objects / BUCKET / "airflow"
        yield deployments[PIPELINE]


def arguments(process: psutil.Process) -> str:
    """All of them; none once it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def test_a_run_lands_in_a_bucket_and_shows_no_key(
    deployment: Deployment, gateway: Gateway, folder: Path
) -> None:
    deployment.produce(40)
    deployment.unpause()
    run = deployment.trigger()
    until(deployment.spark, "Spark", 120)
    seen = [arguments(each) for each in deployment.airflow.family()]
    assert not [line for line in seen if gateway.secret in line]
    deployment.succeeds(run)
    assert deployment.announced() == ["forward-1-1"]
    no_secret(gateway.secret, folder)
    assert not (folder / "warehouse").exists()
    deployment.assert_exact()
