"""A session apart: a MERGE has its transaction id from its session, so it has one of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from sluice.lake.session import session_conf
from sluice.lake.session_settings import hold_to
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.spark_keys import is_of_a_query

_DELTA = "spark.databricks.delta"


@contextmanager
def session_apart(spark: SparkSession, spec: PipelineSpec) -> Iterator[SparkSession]:
    """Another session of the same Spark, with the settings of a pipeline."""
    if is_remote():
        from sluice.lake.server import server_session

        lasting = cast(server_session.LastingSession, spark)
        with server_session.session_apart(lasting) as apart:
            yield apart
        return
    apart = spark.newSession()
    wanted = {key: value for key, value in session_conf(spec).items() if is_of_a_query(key)}
    hold_to(apart.conf, wanted, f"{spec.pipeline}: spark")
    yield apart


@contextmanager
def committing(spark: SparkSession, app_id: str, version: int, told: str) -> Iterator[None]:
    """What the next MERGE, UPDATE or DELETE of the session carries.

    They read it from the session only (delta-io/delta issue 3934).
    """
    conf: Mapping[str, str] = {
        f"{_DELTA}.write.txnAppId": app_id,
        f"{_DELTA}.write.txnVersion": str(version),
        f"{_DELTA}.commitInfo.userMetadata": told,
        # Its source is a checkpoint: it gives the same rows at each reading.
        f"{_DELTA}.merge.materializeSource": "none",
    }
    with _holding(spark, conf):
        yield


@contextmanager
def telling(spark: SparkSession, told: str) -> Iterator[None]:
    """What the next DELETE of the session says of itself; it carries no transaction id."""
    with _holding(spark, {f"{_DELTA}.commitInfo.userMetadata": told}):
        yield


@contextmanager
def _holding(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in conf:
            spark.conf.unset(key)
