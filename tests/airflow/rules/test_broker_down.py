"""A broker that is down, as a task's log tells it: one error with the reason, and no more."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import pytest
from sluice.broker.client_logs import AIOKAFKA, LIBRDKAFKA
from sluice.errors import BrokerUnavailable
from sluice.lake.job_errors import reporting_errors
from sluice.scheduling.run_params import BRING_BACK_ERASED, DRY_RUN, REPROCESS, asked_in_form
from sluice.scheduling.tasks import plan_with
from sluice.spec_file.pipeline_spec import PipelineSpec

from local.embedded.ports import free_port
from tests.airflow.rules.conftest import SPEC


@pytest.fixture(autouse=True)
def as_logged(caplog):
    """The log of a process that has only begun: nothing has told the clients to be silent."""
    caplog.set_level(logging.INFO)
    for each in (LIBRDKAFKA, AIOKAFKA):
        each.setLevel(logging.NOTSET)


@pytest.mark.patient
def test_a_task_fails_with_the_reason_and_its_log_has_no_line_for_each_attempt(
    specs, monkeypatch, caplog
):
    address = f"127.0.0.1:{free_port()}"
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": address}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    plan = plan_with(PipelineSpec.model_validate(SPEC), asked_in_form)
    run = SimpleNamespace(
        run_id="now", triggering_user_name="me", run_type=SimpleNamespace(value="manual")
    )
    left = {}
    task = SimpleNamespace(xcom_push=lambda key, value: left.update({key: value}))
    with pytest.raises(BrokerUnavailable, match=f"^broker {address}: .*Connection refused"):
        plan(dag_run=run, params=dict.fromkeys((DRY_RUN, *REPROCESS, BRING_BACK_ERASED)), ti=task)
    assert [each.getMessage() for each in caplog.records] == []
    (said,) = [each["said"] for each in left.values()]
    assert "Connection refused" in said


def test_a_spark_driver_silences_its_clients_too():
    with reporting_errors("sluice.ingest"):
        assert not any(each.isEnabledFor(logging.ERROR) for each in (LIBRDKAFKA, AIOKAFKA))
