"""A warehouse in a bucket: one connection reaches it, in the environment and in no argument."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow.sdk import Connection
from sluice.errors import SettingsError
from sluice.lake.s3_conf import s3_conf
from sluice.scheduling.assets import data_table
from sluice.scheduling.deployment import reached_settings
from sluice.scheduling.hooks import driver_environment
from sluice.spec_folder import load_spec

SECRET = "canary-of-a-secret"
SPEC = load_spec(Path("dags/pipelines/flights.yaml"))
AWS = {
    "conn_type": "aws",
    "login": "me",
    "password": SECRET,
    "extra": {"endpoint_url": "http://127.0.0.1:7070"},
}


@pytest.fixture
def bucket() -> Iterator[None]:
    """A warehouse in a bucket; what is added to the environment goes with the test."""
    before = dict(os.environ)
    for name in [name for name in before if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["SLUICE_WAREHOUSE"] = "s3a://lake/warehouse"
    yield
    os.environ.clear()
    os.environ.update(before)


def test_the_driver_reaches_the_bucket_and_no_argument_holds_a_key(bucket: None) -> None:
    os.environ["AIRFLOW_CONN_SLUICE_WAREHOUSE"] = json.dumps(AWS)
    assert reached_settings().warehouse == "s3a://lake/warehouse"
    kafka = Connection(conn_id="kafka_default", conn_type="kafka", extra="{}")
    driver = driver_environment([kafka], Path("specs"))
    assert driver["AWS_SECRET_ACCESS_KEY"] == SECRET
    assert driver["SLUICE_WAREHOUSE"] == "s3a://lake/warehouse"
    assert "AIRFLOW_CONN_SLUICE_WAREHOUSE" not in driver
    conf = s3_conf(os.environ)
    assert conf["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:7070"
    assert SECRET not in str(conf)


def test_without_the_connection_the_machines_identity_is_used(bucket: None) -> None:
    os.environ["AWS_ACCESS_KEY_ID"] = "the machine's"
    reached_settings()
    assert os.environ["AWS_ACCESS_KEY_ID"] == "the machine's"


def test_a_connection_of_another_type_is_refused(bucket: None) -> None:
    os.environ["AIRFLOW_CONN_SLUICE_WAREHOUSE"] = json.dumps({**AWS, "conn_type": "http"})
    with pytest.raises(SettingsError, match="connection sluice_warehouse: conn_type") as refused:
        reached_settings()
    assert SECRET not in str(refused.value)


def test_the_asset_of_a_table_has_its_uri(bucket: None) -> None:
    assert data_table(SPEC).uri == "s3a://lake/warehouse/flights"
