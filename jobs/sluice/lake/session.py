"""The Spark session and its configuration."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sluice.errors import SparkFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sluice.spec.pipeline_spec import PipelineSpec

log = logging.getLogger(__name__)

# How records are decoded depends on these: a spec cannot change them. Of a record that does not
# fit its schema no part is kept (SPARK-41248), and "" is no number (migration guide, 2.4 to 3.0).
DECODING_CONF = {
    "spark.sql.json.enablePartialResults": "false",
    "spark.sql.legacy.json.allowEmptyString.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}

# What `make setup` leaves: the jars that Spark needs for Kafka and Delta. A cluster has its own.
_EMBEDDED_JARS = Path(__file__).resolve().parents[3] / "build" / "jars" / "spark"

_LOGGING = Path(__file__).with_name("log4j2.properties")

# A JVM takes these when it starts. A Spark Connect server has its own, and no client changes them.
_START_CONF = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{_LOGGING}",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|truststore|keystore",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

_SESSION_CONF = {
    # Without kafka in this list its newer source (DSv2) is used: 20 % faster, as we measured.
    "spark.sql.sources.useV1SourceList": "avro,csv,json,orc,parquet,text",
    "spark.sql.parquet.compression.codec": "zstd",
    # Other readers take INT96, Spark's default and deprecated (PARQUET-323), for nanoseconds of 64
    # bits: year 9999 becomes another one there.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A table's log is small here: one task reads it, not 50 (Delta's Snapshot.scala).
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "4",
    # VACUUM lists folders with so many tasks, however few there are (Delta's VacuumCommand.scala);
    # the default is 10,000 (Spark's performance tuning guide).
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
    # The JVM never compiles a method of more bytes than this (HotSpot, DontCompileHugeMethods);
    # Spark then takes another way.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.redaction.options.regex": "(?i)url|secret|password|token|jaas|truststore|keystore",
}


def spark_conf(spec: PipelineSpec) -> dict[str, str]:
    """The Spark configuration of a pipeline; what its spec says outranks ours."""
    jars = {}
    if _EMBEDDED_JARS.is_dir():
        path = f"{_EMBEDDED_JARS}/*"
        jars = {"spark.driver.extraClassPath": path, "spark.executor.extraClassPath": path}
    return {**_START_CONF, **jars, **session_conf(spec)}


def session_conf(spec: PipelineSpec) -> dict[str, str]:
    """The part of it that a session on a server is given; of the spec's, all."""
    return {**_SESSION_CONF, **spec.spark, **DECODING_CONF}


def open_session(spec: PipelineSpec) -> SparkSession:
    """The session that spark-submit has prepared, one on SPARK_REMOTE's server, or a local one.

    Raises SparkFailed; SettingsError when SPARK_REMOTE is no address.
    """
    remote = os.environ.get("SPARK_REMOTE", "")
    if remote.startswith("sc://"):
        from sluice.lake.spark_server import open_on_server

        return open_on_server(spec.pipeline, remote, session_conf(spec))
    return _open_here(spec)


def close_session(spark: SparkSession) -> None:
    """Stop the session. A JVM that has died needs no stopping, and must not hide why."""
    from pyspark.sql import is_remote

    if is_remote():
        from sluice.lake.spark_server import close_on_server

        return close_on_server(spark)
    # Only a session in this process has py4j: the client alone comes without it.
    from py4j.protocol import Py4JError

    try:
        spark.stop()
    except (Py4JError, OSError) as problem:
        log.warning("Spark had stopped before: %s", problem)


def _open_here(spec: PipelineSpec) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"sluice-{spec.pipeline}")
    for key, value in spark_conf(spec).items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        session = builder.getOrCreate()
    except Exception as problem:
        # Of many kinds, depending on how far the JVM had come.
        reason = str(problem).strip() or repr(problem)
        raise SparkFailed(
            f"{spec.pipeline}: Spark did not start: {reason.splitlines()[0]}. Its log has the cause"
        ) from problem
    if threading.current_thread() is threading.main_thread():
        # Spark's own handler (pyspark/core/context.py) asks the JVM to cancel, in the middle of
        # another call to it.
        signal.signal(signal.SIGINT, interrupted)
    return session


@contextmanager
def own_session(spec: PipelineSpec) -> Iterator[SparkSession]:
    """A session for one pipeline, stopped at the end. Raises SparkFailed."""
    spark = open_session(spec)
    try:
        yield spark
    finally:
        close_session(spark)
