"""Settings come from the environment, once, and connections without being repeated in errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.settings import Settings, connection_extra
from sluice.tables.warehouse import Warehouse

EXTRA = {"bootstrap.servers": "broker:9092", "sasl.password": "hunter2"}


@pytest.mark.parametrize("environment", [{}, {"SLUICE_WAREHOUSE": "", "SLUICE_PIPELINES": ""}])
def test_the_defaults_are_those_of_the_design(environment: dict[str, str]) -> None:
    found = Settings.from_environment(environment)
    assert found == Settings(warehouse="./warehouse", pipelines=Path("dags/pipelines"))


def test_the_environment_outranks_the_defaults() -> None:
    environment = {"SLUICE_WAREHOUSE": "s3://lake/x", "SLUICE_PIPELINES": "/etc/p", "OTHER": "1"}
    found = Settings.from_environment(environment)
    assert found == Settings(warehouse="s3://lake/x", pipelines=Path("/etc/p"))
    assert Warehouse(found.warehouse).data("flights") == "s3://lake/x/flights"


@pytest.mark.parametrize(
    "extra", [EXTRA, json.dumps(EXTRA)], ids=["extra as an object", "extra as text"]
)
def test_a_connection_is_read_in_airflows_json_form(extra: object) -> None:
    environment = {"AIRFLOW_CONN_MY_KAFKA": json.dumps({"conn_type": "kafka", "extra": extra})}
    assert connection_extra("my_kafka", environment) == EXTRA


@pytest.mark.parametrize("environment", [{}, {"AIRFLOW_CONN_KAFKA_DEFAULT": ""}])
def test_a_missing_connection_is_told_with_an_example(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"AIRFLOW_CONN_KAFKA_DEFAULT is not set.*conn_type"):
        connection_extra("kafka_default", environment)


@pytest.mark.parametrize(
    "value",
    [
        "kafka://user:hunter2@broker:9092",
        "{hunter2",
        '"hunter2"',
        "[1]",
        "null",
        '{"password": "hunter2"}',
        '{"extra": null, "password": "hunter2"}',
        '{"extra": "hunter2"}',
        '{"extra": ["hunter2"]}',
        '{"extra": "[\\"hunter2\\"]"}',
    ],
)
def test_any_other_form_is_refused_and_its_value_appears_nowhere(value: str) -> None:
    with pytest.raises(
        SettingsError, match="AIRFLOW_CONN_K is not a connection in JSON"
    ) as refused:
        connection_extra("k", {"AIRFLOW_CONN_K": value})
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None, "a traceback would print the cause with the value"
