"""The task that waits until a table is complete: what it waits for, and what it does without."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException
from airflow.serialization.serialized_objects import DagSerialization
from sluice.airflow import wait_until_complete
from sluice.errors import SpecError

from local.embedded.ports import free_port

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def run(end=None):
    return {"dag_run": SimpleNamespace(data_interval_end=end, run_after=NOON)}


@pytest.fixture
def made(write_spec, specs):
    write_spec("orders")

    def make(**given):
        with DAG("orders_report", schedule=None):
            return wait_until_complete("orders", specs=specs, **given)

    return make


def test_it_is_a_task_like_any_other(made):
    sensor = made(poke_interval=5, pool="waiting")
    assert (sensor.task_id, sensor.mode, sensor.pool) == (
        "wait_until_complete",
        "reschedule",
        "waiting",
    )
    stored = DagSerialization.from_dict(DagSerialization.to_dict(sensor.dag))
    assert stored.task_ids == ["wait_until_complete"]


def test_it_waits_for_the_end_of_the_interval_or_for_the_moment_that_is_given(made):
    midnight = datetime(2026, 11, 2, tzinfo=UTC)
    wanted = [
        made()._wanted(run(midnight)),
        made()._wanted(run()),
        made(until=midnight)._wanted(run()),
        made(until="2026-11-02T01:00:00+01:00")._wanted(run()),
        made(until="2026-11-02")._wanted(run()),
    ]
    assert wanted == [midnight, NOON, midnight, midnight, midnight]


def test_what_is_no_moment_fails_for_good(made):
    with pytest.raises(AirflowFailException, match=r"until: expected a moment such as .*'noon'"):
        made(until="noon").poke(run())


def test_a_pipeline_without_spec_is_an_import_error(made, specs):
    with pytest.raises(SpecError, match="a spec of a pipeline 'others'"):
        wait_until_complete("others", specs=specs)


@pytest.mark.patient
def test_a_broker_that_is_down_keeps_it_waiting_with_the_reason(made, monkeypatch, capsys):
    kafka = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    connection = {"conn_type": "kafka", "extra": kafka}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(connection))
    assert not made().poke(run())
    assert (
        "orders: not complete until 2026-11-01T12:00:00+00:00: broker 127"
        in capsys.readouterr().out
    )
