"""In Airflow: a secured pipeline runs, and neither a good nor a refused login leaves a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from tests.oracle import no_secret
from tests.production.worlds.secured_broker import SecuredBroker
from tests.worlds.deployment import RUN_SECONDS, Deployment, deployed
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PIPELINE, MECHANISM = "locked", "SCRAM-SHA-512"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("airflow")


@pytest.fixture(scope="module")
def deployment(folder: Path, secured: SecuredBroker) -> Iterator[Deployment]:
    connection = {"conn_type": "kafka", "extra": secured.connection(MECHANISM)}
    environment = {**JAVA_TUNING, "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection)}
    specs: dict[str, dict[str, object]] = {PIPELINE: {}}
    with deployed(folder, specs, broker=secured.broker, environment=environment) as deployments:
        yield deployments[PIPELINE]


def test_a_run_and_a_refused_one_leave_no_secret(
    deployment: Deployment, secured: SecuredBroker, folder: Path
) -> None:
    secured.allow(
        secured.user(MECHANISM),
        (ResourceType.TOPIC, PIPELINE, AclOperation.READ),
        (ResourceType.TOPIC, PIPELINE, AclOperation.DESCRIBE_CONFIGS),
        (ResourceType.GROUP, f"sluice-{PIPELINE}", AclOperation.READ),
    )
    deployment.produce(20)
    deployment.unpause()
    run = deployment.run()
    assert deployment.work(run)["batches"] == "1..1"
    secured.set_password(MECHANISM, "canary-of-the-new-year")
    refused = deployment.client.wait_for_run(deployment.trigger(), RUN_SECONDS)
    assert deployment.states(refused)["plan"] == "failed"
    logs = "".join(each.read_text() for each in folder.rglob("*.log"))
    assert "connection kafka_default is refused: " in logs
    for secret in secured.secrets:
        no_secret(secret, folder)
    deployment.assert_exact()
