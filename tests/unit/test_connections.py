"""A connection is read in Airflow's JSON form, and what it says is repeated by no error."""

from __future__ import annotations

import json

import pytest
from sluice.connections import Connection, connection_extra
from sluice.errors import SettingsError

EXTRA = {"bootstrap.servers": "broker:9092", "sasl.password": "hunter2"}


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


def test_a_connection_shows_no_secret() -> None:
    secret = {"host": "hunter2@h", "password": "hunter2", "extra": {"token": "hunter2"}}
    assert "hunter2" not in repr(Connection.from_json("c", {"login": "ann", **secret}))
