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
from sluice.lake.log_store import log_store_conf, warn_of_overwriting
from sluice.spec.spark_keys import SECRET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sluice.spec.pipeline_spec import PipelineSpec

log = logging.getLogger(__name__)

# Decoding depends on these, so a spec cannot change them. No part of a record that does not fit
# its schema is kept (SPARK-41248), and "" is not a number (migration guide, 2.4 to 3.0).
DECODING_CONF = {
    "spark.sql.json.enablePartialResults": "false",
    "spark.sql.legacy.json.allowEmptyString.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}

# From `make setup`: the jars that Spark needs for Kafka and Delta, and our own. A cluster has its
# own.
_EMBEDDED_JARS = Path(__file__).resolve().parents[3] / "build" / "jars" / "spark"

_LOGGING = Path(__file__).with_name("log4j2.properties")

# A JVM reads these when it starts. A Spark Connect server has its own; no client can change them.
_START_CONF = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{_LOGGING}",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.redaction.regex": SECRET,
    # Python would tell the JVM a source line with every expression: half of the time to build them.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

_SESSION_CONF = {
    # Leaving kafka out of this list selects its newer source (DSv2): 20 % faster as measured.
    "spark.sql.sources.useV1SourceList": "avro,csv,json,orc,parquet,text",
    "spark.sql.parquet.compression.codec": "zstd",
    # Spark's default is the deprecated INT96 (PARQUET-323). Other readers convert it to 64-bit
    # nanoseconds, which turns year 9999 into another year.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # The tables' logs are small: one task reads one, not 50 (Delta's Snapshot.scala).
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "4",
    # VACUUM lists folders with this many tasks, however few they are (Delta's VacuumCommand.scala);
    # the default is 10,000 (Spark's performance tuning guide).
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
    # The JVM never compiles a method larger than this (HotSpot, DontCompileHugeMethods); Spark then
    # runs without whole-stage code generation (SPARK-21871).
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.redaction.options.regex": f"{SECRET}|url",
}


def spark_conf(spec: PipelineSpec) -> dict[str, str]:
    """The Spark configuration of a pipeline; its spec overrides the defaults."""
    jars = {}
    if _EMBEDDED_JARS.is_dir():
        path = f"{_EMBEDDED_JARS}/*"
        jars = {
            "spark.driver.extraClassPath": path,
            "spark.executor.extraClassPath": path,
            **log_store_conf(_EMBEDDED_JARS),
        }
    return {**_START_CONF, **jars, **session_conf(spec)}


def session_conf(spec: PipelineSpec) -> dict[str, str]:
    """The part that a session on a server receives, including all of the spec's."""
    return {**_SESSION_CONF, **spec.spark, **DECODING_CONF}


def open_session(spec: PipelineSpec) -> SparkSession:
    """The session that spark-submit prepared, one on SPARK_REMOTE's server, or a local one.

    Raises SparkFailed; SettingsError when SPARK_REMOTE is not an address.
    """
    remote = os.environ.get("SPARK_REMOTE", "")
    # With `local`, pyspark starts a server of its own.
    if remote and not remote.startswith("local"):
        from sluice.lake.spark_server import open_on_server

        return open_on_server(spec.pipeline, remote, session_conf(spec))
    session = _open_here(spec)
    warn_of_overwriting(session, f"{spec.pipeline}: spark")
    return session


def close_session(spark: SparkSession) -> None:
    """Stop the session. If the JVM has died, that must not hide the cause."""
    from pyspark.sql import is_remote

    if is_remote():
        from sluice.lake.spark_server import close_on_server

        return close_on_server(spark)
    # Only a session in this process has py4j: the client alone comes without it.
    from py4j.protocol import Py4JError

    try:
        spark.stop()
    except (Py4JError, OSError) as problem:
        log.warning("Spark had already stopped: %s", problem)


def _open_here(spec: PipelineSpec) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"sluice-{spec.pipeline}")
    for key, value in spark_conf(spec).items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        session = builder.getOrCreate()
    except Exception as problem:
        # The exception's type depends on how far the JVM had started.
        reason = str(problem).strip() or repr(problem)
        raise SparkFailed(
            f"{spec.pipeline}: Spark did not start: {reason.splitlines()[0]}. Its log has the cause"
        ) from problem
    if threading.current_thread() is threading.main_thread():
        # Spark's own handler (pyspark/core/context.py) asks the JVM to cancel while another call to
        # it is running.
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
