"""Settings come from the environment, once, and connections without being repeated in errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.settings import Settings, connection_extra

EXTRA = {"bootstrap.servers": "broker:9092", "sasl.password": "hunter2"}


@pytest.mark.parametrize("environment", [{}, {"SLUICE_WAREHOUSE": "", "SLUICE_PIPELINES": ""}])
def test_the_defaults_are_those_of_the_design(environment: dict[str, str]) -> None:
    found = Settings.from_environment(environment)
    assert found == Settings(warehouse="./warehouse", pipelines=Path("dags/pipelines"))


def test_the_environment_outranks_the_defaults() -> None:
    environment = {"SLUICE_WAREHOUSE": "/data/lake", "SLUICE_PIPELINES": "/etc/p", "OTHER": "1"}
    found = Settings.from_environment(environment)
    assert found == Settings(warehouse="/data/lake", pipelines=Path("/etc/p"))


@pytest.mark.parametrize(
    ("warehouse", "path"),
    [
        ("file:///data/my%20lake", "/data/my lake"),
        ("file:/data/lake", "/data/lake"),
        ("FILE://localhost/data/lake/", "/data/lake/"),
        ("lake: the first", "lake: the first"),
    ],
)
def test_a_file_uri_is_its_path(warehouse: str, path: str) -> None:
    assert Settings.from_environment({"SLUICE_WAREHOUSE": warehouse}).warehouse == path


@pytest.mark.parametrize(
    ("warehouse", "found"),
    [
        ("gs://hunter2/x", "gs://…: no test shows yet"),
        ("abfss://hunter2@account.example/x", "abfss://…: no test shows yet"),
        ("hdfs:///hunter2", "hdfs://…: no test shows yet"),
        ("file://hunter2/lake", "file://…: no test shows yet"),
    ],
)
def test_a_warehouse_where_commits_could_overwrite_each_other_is_refused(
    warehouse: str, found: str
) -> None:
    expected = f"SLUICE_WAREHOUSE: expected a path on this host, or s3a://bucket/…, found {found}"
    with pytest.raises(SettingsError, match=expected) as refused:
        Settings.from_environment({"SLUICE_WAREHOUSE": warehouse})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("warehouse", "uri"),
    [
        ("s3a://lake", "s3a://lake"),
        ("s3://lake/warehouse/", "s3a://lake/warehouse"),
        ("S3A://my-lake.eu/a/b", "s3a://my-lake.eu/a/b"),
    ],
)
def test_a_bucket_has_one_name_for_all(warehouse: str, uri: str) -> None:
    assert Settings.from_environment({"SLUICE_WAREHOUSE": warehouse}).warehouse == uri


@pytest.mark.parametrize(
    "warehouse",
    ["S3A://key:hunter2@lake/x", "s3:///hunter2", "s3://hunter2_/x", "s3://b/x?hunter2"],
)
def test_a_bucket_in_another_form_is_refused(warehouse: str) -> None:
    with pytest.raises(SettingsError, match="expected s3a://bucket/folder") as refused:
        Settings.from_environment({"SLUICE_WAREHOUSE": warehouse})
    assert "hunter2" not in str(refused.value)


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
