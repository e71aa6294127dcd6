"""Which Spark keys a spec may set: none that could be a credential, in name or in value."""

from __future__ import annotations

import re

import pytest
from sluice.lake.session import spark_conf
from sluice.spec_file.spark_keys import (
    ALLOWED,
    EXACT_CONF,
    SECRET,
    key_refusal,
    looks_secret,
    strange_keys,
)

from tests.unit.builders import spec

NEVER_LISTED = (
    "spark.hadoop.fs.azure.account.key.data.dfs.core.windows.net",
    "spark.hadoop.fs.azure.account.oauth2.client.id",
    "spark.hadoop.fs.azure.sas.container.data.blob.core.windows.net",
    "spark.hadoop.google.cloud.auth.service.account.private.key",
    "spark.hadoop.fs.s3a.encryption.key",
    "spark.hadoop.fs.s3a.endpoint",
    "spark.executorEnv.API_KEY",
    "spark.kubernetes.authenticate.oauthToken",
    "spark.kubernetes.driver.secretKeyRef.X",
    "spark.yarn.appMasterEnv.AWS_SESSION",
    "spark.ssl.keyPassword",
    "spark.authenticate.secret",
    "spark.redaction.regex",
    "spark.sql.redaction.options.regex",
    "spark.sql.legacy.parquet.nanosAsLong",
    "spark.sql.catalog.lake.warehouse",
    "spark.sql.hive.convertMetastoreParquet",
    "spark.databricks.delta.properties.defaults.appendOnly",
    "spark.databricks.delta.stats.skipping",
    "spark.databricks.delta.retentionDurationCheck.enabled",
    "spark.databricks.delta.write.txnAppId",
    "spark.databricks.delta.write.txnVersion",
    "spark.submit.deployMode",
    "sql.shuffle.partitions",
    "Spark.sql.shuffle.partitions",
    "spark.sql.",
    "spark.sql.x=1 --conf spark.y",
    "spark.sql.x\n",
    "",
)
LISTED_BUT_SECRET = (
    "spark.sql.codegen.password",
    "spark.driver.myKey",
    "spark.executor.private",
)
SECRET_VALUES = (
    ("spark.driver.extraJavaOptions", "-Djavax.net.ssl.trustStorePassword=hunter2"),
    ("spark.executor.extraJavaOptions", "-Dfs.azure.account.key=hunter2"),
    ("spark.jars", "https://me:hunter2@repo.example/a.jar"),
    ("spark.driver.x", "-----BEGIN PRIVATE KEY-----hunter2"),
    ("spark.executor.x", '{"password": "hunter2"}'),
)
GOOD = {
    "spark.master": "spark://master:7077",
    "spark.sql.shuffle.partitions": "64",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.parquet.compression.codec": "snappy",
    "spark.databricks.delta.optimizeWrite.enabled": "true",
    "spark.executor.memory": "8g",
    "spark.executor.memoryOverhead": "1g",
    "spark.driver.maxResultSize": "2g",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -Dlog4j2.configurationFile=file:/x",
    "spark.dynamicAllocation.maxExecutors": "20",
    "spark.kubernetes.executor.request.cores": "500m",
    "spark.speculation": "true",
    "spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore",
    "spark.jars": "https://repo.example:8443/a.jar,file:///opt/b.jar",
}


@pytest.mark.parametrize("key", NEVER_LISTED)
def test_what_is_not_listed_is_refused(key: str) -> None:
    assert key_refusal(key, "1").startswith("not among the keys that a spec may set; allowed: ")


@pytest.mark.parametrize("key", LISTED_BUT_SECRET)
def test_a_name_that_looks_secret_is_refused_although_it_is_listed(key: str) -> None:
    assert key_refusal(key, "1").startswith("its name looks like a secret's; allowed: ")


@pytest.mark.parametrize(("key", "value"), SECRET_VALUES)
def test_a_value_that_looks_secret_is_refused_and_not_repeated(key: str, value: str) -> None:
    why = key_refusal(key, value)
    assert why.startswith("its value looks as if it held a secret; allowed: ")
    assert "hunter2" not in why


@pytest.mark.parametrize(("key", "value"), GOOD.items())
def test_sizes_and_switches_are_allowed(key: str, value: str) -> None:
    assert key_refusal(key, value) == ""


def test_our_own_configuration_is_not_hidden_from_view() -> None:
    """Nor is any key that the list names, so that a log shows what was set."""
    ours = [*spark_conf(spec()), *(each.removesuffix(".*") for each in ALLOWED)]
    assert not list(filter(looks_secret, ours))


def test_spark_reads_the_same_words_as_python() -> None:
    """No construct that Java's expressions lack, and case does not matter."""
    assert SECRET.startswith("(?i)")
    assert not re.search(r"\(\?P|\(\?#|\\[AZ]", SECRET)
    assert spark_conf(spec())["spark.redaction.regex"] == SECRET
    assert looks_secret("SASL.PASSWORD")


@pytest.mark.parametrize("key", EXACT_CONF)
def test_what_decides_how_records_land_is_refused_by_name(key: str) -> None:
    with pytest.raises(ValueError, match=rf"found {re.escape(key)}: .* always {EXACT_CONF[key]}"):
        spec(spark={key: "LEGACY"})


DEFAULTS = "spark.databricks.delta.properties.defaults."
FROM_ELSEWHERE = {
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.variable.substitute": "false",
    "spark.databricks.delta.write.txnAppId": "sluice:p:forward:1",
    f"{DEFAULTS}appendOnly": "true",
    f"{DEFAULTS}setTransactionRetentionDuration": "interval 1 day",
    f"{DEFAULTS}logRetentionDuration": "interval 1 day",
}


def test_what_a_server_adds_is_measured_by_the_list_for_specs() -> None:
    """Defaults of table properties by the list for properties."""
    good = {key: value for key, value in GOOD.items() if key.startswith("spark.sql.")}
    allowed = {f"{DEFAULTS}logRetentionDuration": "interval 60 days"}
    of_spark = {"spark.sql.catalog.spark_catalog": "x", "spark.sql.extensions": "x"}
    found = {**FROM_ELSEWHERE, **good, "spark.executor.cores": "1", **of_spark}
    assert strange_keys(found, []) == sorted(FROM_ELSEWHERE)
    assert strange_keys(allowed | spark_conf(spec()), spark_conf(spec())) == []
