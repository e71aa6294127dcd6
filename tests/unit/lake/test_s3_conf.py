"""Spark's settings for a bucket: how it is reached, what commits there, and no key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.lake.log_store import check_log_store
from sluice.lake.own_classes import class_path
from sluice.lake.s3_conf import LOG_STORE, LOG_STORE_KEY, s3_conf

from tests.unit.sources import ROOT

REACHED = {
    "AWS_ACCESS_KEY_ID": "canary-of-a-key",
    "AWS_SECRET_ACCESS_KEY": "canary-of-a-secret",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:7070",
    "AWS_REGION": "eu-central-1",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
}


def test_spark_asks_the_same_server_in_the_same_way() -> None:
    found = s3_conf(REACHED)
    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:7070"
    assert found["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
    assert found["spark.hadoop.fs.s3a.path.style.access"] == "true"
    assert not [text for text in found.values() if "canary" in text]


def test_on_aws_spark_finds_the_endpoint_itself() -> None:
    found = s3_conf({"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"})
    assert "spark.hadoop.fs.s3a.endpoint" not in found
    assert found["spark.hadoop.fs.s3a.path.style.access"] == "false"


@pytest.mark.parametrize("found", [None, "io.delta.storage.S3SingleDriverLogStore"])
def test_another_log_store_is_refused_in_a_bucket(found: str | None) -> None:
    with pytest.raises(SettingsError, match=f"expected {LOG_STORE_KEY}={LOG_STORE}, found"):
        check_log_store({LOG_STORE_KEY: found}.get, "spark:15002", "s3a://lake/flights")


def test_ours_is_taken_in_a_bucket() -> None:
    check_log_store({LOG_STORE_KEY: LOG_STORE}.get, "spark:15002", "s3a://lake/flights")


def test_a_warehouse_on_s3_needs_two_folders_of_jars(tmp_path: Path) -> None:
    (tmp_path / "s3").mkdir()
    assert class_path(tmp_path, on_s3=True) == f"{tmp_path}/s3/*:{tmp_path}/spark/*"
    assert class_path(tmp_path, on_s3=False) == f"{tmp_path}/spark/*"


def test_missing_jars_are_named_with_what_brings_them(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"s3: expected the jars .* Run `make s3` once"):
        class_path(tmp_path, on_s3=True)


def test_the_page_names_every_setting_that_a_server_needs() -> None:
    page = (ROOT / "docs" / "object-stores.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^(spark\.\S+) +(\S+)$", page, re.MULTILINE))
    ours = s3_conf(REACHED)
    assert ours.keys() <= stated.keys()
    named = ("endpoint", "endpoint.region", "path.style.access")
    theirs = {f"spark.hadoop.fs.s3a.{each}" for each in named}
    assert {key: stated[key] for key in ours.keys() - theirs} == {
        key: text for key, text in ours.items() if key not in theirs
    }
