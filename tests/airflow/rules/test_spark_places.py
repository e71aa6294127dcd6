"""Where the ingest task runs Spark is said by its connection alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.log import redact  # type: ignore[attr-defined]
from sluice.errors import SettingsError
from sluice.pipeline import Pipeline
from sluice.scheduling.operators import IngestOperator
from sluice.spec_folder import load_spec

TOKEN = "not-for-anyones-eyes"
SERVER = {"conn_type": "spark_connect", "host": "localhost", "port": 15002, "password": TOKEN}


@pytest.fixture
def run_at(
    write_spec: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[tuple[int, Pipeline]]]:
    """`run_at(connection)` runs a job in a task, and returns where it ran."""
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": "broker:9092"}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT", raising=False)

    def run(connection: dict[str, Any] | None) -> list[tuple[int, Pipeline]]:
        if connection is not None:
            monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
        done: list[tuple[int, Pipeline]] = []
        operator = IngestOperator(
            task_id="ingest", spec=load_spec(write_spec("flights")), specs=Path()
        )
        operator.run_job(
            {}, "flights", [], lambda pipeline: done.append((threading.get_ident(), pipeline))
        )
        assert operator._hook is None, "spark-submit has a hook"
        return done

    return run


def test_with_a_server_the_task_does_the_job_itself_and_starts_nothing(run_at: Any) -> None:
    ((thread, pipeline),) = run_at(SERVER)
    # In the main thread, where Python hears the signal that ends a task.
    assert thread == threading.main_thread().ident
    assert pipeline.spec.pipeline == "flights"
    assert redact(f"Bearer {TOKEN}") == "Bearer ***"


def test_without_the_connection_nothing_is_guessed(run_at: Any) -> None:
    with pytest.raises(SettingsError, match="'spark_default' is not defined"):
        run_at(None)


@pytest.mark.parametrize(
    ("connection", "refused"),
    [
        ({"conn_type": "kafka", "password": TOKEN}, "conn_type: expected `spark` or"),
        ({**SERVER, "host": ""}, "host: expected"),
        ({"conn_type": "spark", "extra": {"deploy-mode": "cluster"}}, "found 'cluster'"),
    ],
)
def test_another_connection_is_refused(
    run_at: Any, connection: dict[str, Any], refused: str
) -> None:
    with pytest.raises(SettingsError, match=refused) as error:
        run_at(connection)
    assert TOKEN not in str(error.value)
