"""Settings come from the environment, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.settings import Settings


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
        ("gs://hunter2/x", "gs://…: Google Cloud Storage; no test shows"),
        ("abfss://hunter2@account.example/x", "abfss://…: Azure, for which no server is available"),
        ("WASBS://hunter2@account.example/x", "wasbs://…: Azure, for which no server"),
        ("hdfs:///hunter2", "hdfs://…: HDFS, which delta-rs reaches only"),
        ("dbfs:/hunter2", "dbfs://…: Databricks' own file system"),
        ("oss://hunter2/x", "oss://…: an object store of its own; no test"),
        ("file://hunter2/lake", "file://…: a file URI with a host"),
        ("tier://hunter2/lake", "tier://…: no test shows that commits"),
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
