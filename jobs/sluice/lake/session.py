"""The Spark session and its configuration."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from sluice.errors import SettingsError, SparkFailed
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import S3, SPARK
from sluice.lake.jars.supplied import supplies_jars
from sluice.lake.java_options import options_for, server_options
from sluice.lake.log_store import check_log_store
from sluice.lake.own_classes import OWN_CLASSES_CONF
from sluice.lake.requirements import STATIC
from sluice.lake.s3_conf import s3_conf
from sluice.lake.spark_place import OwnSpark, SparkPlace, SparkServer
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.spark_keys import EXACT_CONF, SECRET, is_of_a_query
from sluice.tables.commits import newest_file
from sluice.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sluice.lake.opened import OpenSpark

log = logging.getLogger(__name__)

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"

# A JVM reads these when it starts. A Spark Connect server has its own; no client can change them.
_START_CONF = {
    # No session has classes of its own: what was compiled for one serves all (decision 17).
    "spark.sql.artifact.isolation.enabled": "false",
    **STATIC,
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
    # The tables' logs are small: one task reads one, not 50 (Delta's Snapshot.scala).
    "spark.databricks.delta.snapshotPartitions": "1",
    # Plans are small here, and Delta's reading of its own log is most of them: to plan anew after
    # each of its stages takes longer than it saves (decision 17).
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # VACUUM lists folders with this many tasks, however few they are (Delta's VacuumCommand.scala);
    # the default is 10,000 (Spark's performance tuning guide).
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
    # The JVM never compiles a method larger than this (HotSpot, DontCompileHugeMethods); Spark then
    # runs without whole-stage code generation (SPARK-21871).
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.redaction.options.regex": f"{SECRET}|url",
    # A server shows each statement on its page "Connect", in the text form of a request. What the
    # connection says, secrets as well, is in options of these names.
    "spark.sql.redaction.string.regex": (
        r'key: "kafka\.[^"]*"\s+value: "[^"\\]*+(?:\\.[^"\\]*+)*+"'
    ),
}


def spark_conf(
    spec: PipelineSpec,
    offsets: int | None = None,
    *,
    on_s3: bool = False,
    signs_with_aws: bool = False,
) -> dict[str, str]:
    """The configuration of a Spark of a pipeline's own; its spec overrides the defaults.

    `offsets` are those that it will read, if that is known; `on_s3`: the warehouse is there;
    `signs_with_aws`: its Kafka connection needs the AWS SDK. Raises SettingsError if no jars are
    there.
    """
    own = own_conf(offsets, on_s3=on_s3, signs_with_aws=signs_with_aws, given=spec.spark)
    return {**own, **session_conf(spec)}


def own_conf(
    offsets: int | None = None,
    *,
    on_s3: bool = False,
    signs_with_aws: bool = False,
    given: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What a JVM for one run is started with, besides what is `given`.

    Raises SettingsError if no jars are there.
    """
    java_options = " ".join(options_for(offsets, os.environ))
    return {**_start_conf(on_s3, given or {}, signs_with_aws), _JAVA_OPTIONS: java_options}


def server_conf(*, on_s3: bool = False) -> dict[str, str]:
    """What a server for all pipelines is started with. Raises SettingsError without jars."""
    return {**_start_conf(on_s3, {}), _JAVA_OPTIONS: " ".join(server_options(os.environ))}


def _start_conf(
    on_s3: bool, given: Mapping[str, str], signs_with_aws: bool = False
) -> dict[str, str]:
    there = s3_conf(os.environ) if on_s3 else {}
    with_sdk = on_s3 or signs_with_aws
    jars, sets = JarFolder.in_environment(os.environ), (SPARK, S3) if with_sdk else (SPARK,)
    # Then Spark's own configuration also names our classes: docs/spark-clusters.md.
    if not jars.of(SPARK).is_dir() and supplies_jars(given, os.environ):
        return {**_START_CONF, **there}
    for each in sets:
        jars.require(each)
    path = jars.class_path(with_sdk)
    paths = {"spark.driver.extraClassPath": path, "spark.executor.extraClassPath": path}
    return {**_START_CONF, **paths, **OWN_CLASSES_CONF, **there}


def session_conf(spec: PipelineSpec) -> dict[str, str]:
    """The part that a session on a server receives, including all of the spec's."""
    return {**_SESSION_CONF, **files_conf(spec), **spec.spark, **EXACT_CONF}


def open_at(place: SparkPlace, tables: Warehouse, signs_with_aws: bool = False) -> OpenSpark:
    """How Spark is opened at a place, for a pipeline of the warehouse. Raises SparkFailed."""
    if isinstance(place, OwnSpark):
        return partial(own_session, place, tables, signs_with_aws=signs_with_aws)
    return partial(_session_there, place, tables)


@contextmanager
def own_session(
    place: OwnSpark,
    tables: Warehouse,
    spec: PipelineSpec,
    offsets: int | None = None,
    *,
    signs_with_aws: bool = False,
) -> Iterator[SparkSession]:
    """A session that is started for one pipeline, and stopped at the end."""
    spark = open_own(place, tables, spec, offsets, signs_with_aws=signs_with_aws)
    try:
        yield spark
    finally:
        _stop(spark)


def session_owner(spec: PipelineSpec, tables: Warehouse) -> str:
    """Whose session it is on a server, which may serve several warehouses."""
    return f"{spec.pipeline} {tables.data(spec.table)}"


def _session_there(
    server: SparkServer, tables: Warehouse, spec: PipelineSpec, _: int | None
) -> AbstractContextManager[SparkSession]:
    # Read when pyspark is imported: its expressions are then built for a server.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    from sluice.lake.server.server_session import server_session

    # What is to land was planned just now, by this process or beside it.
    seen = newest_file(tables.offsets(spec.table))
    return server_session(server, session_owner(spec, tables), session_conf(spec), seen)


def _stop(spark: SparkSession) -> None:
    """Stop the session. If the JVM has died, that must not hide the cause."""
    from py4j.protocol import Py4JError

    try:
        spark.stop()
    except (Py4JError, OSError) as problem:
        log.warning("Spark had already stopped: %s", problem)


def open_own(
    place: OwnSpark,
    tables: Warehouse,
    spec: PipelineSpec,
    offsets: int | None = None,
    *,
    signs_with_aws: bool = False,
) -> SparkSession:
    """The session that spark-submit prepared, or one in a JVM that is started now."""
    from pyspark.sql import SparkSession

    from sluice.lake.session_settings import hold_to

    _require_no_remote()
    builder = SparkSession.builder.appName(f"sluice-{spec.pipeline}")
    if place.master:
        builder = builder.master(place.master)
    conf = spark_conf(spec, offsets, on_s3=tables.on_s3, signs_with_aws=signs_with_aws)
    for key, value in conf.items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        session = builder.getOrCreate()
    except Exception as problem:
        # The exception's type depends on how far the JVM had started.
        reason = str(problem).strip() or repr(problem)
        where = f" on {place.master}" if place.master else ""
        raise SparkFailed(
            f"{spec.pipeline}: Spark did not start{where}: {reason.splitlines()[0]}."
            " Its log has the cause"
        ) from problem
    if threading.current_thread() is threading.main_thread():
        # Spark's own handler (pyspark/core/context.py) asks the JVM to cancel while another call to
        # it is running.
        signal.signal(signal.SIGINT, interrupted)
    where = f"{spec.pipeline}: spark"
    of_queries = {k: v for k, v in session_conf(spec).items() if is_of_a_query(k)}
    hold_to(session.conf, of_queries, where)
    check_log_store(lambda key: session.conf.get(key, None), where, tables.root)
    return session


def _require_no_remote() -> None:
    if "SPARK_REMOTE" in os.environ:
        raise SettingsError(
            "SPARK_REMOTE: expected it unset, as the connection spark_default says where Spark"
            " runs; give that one the type spark_connect"
        )


_DELTA = "spark.databricks.delta"
_UNITS = {"m": 2**20, "g": 2**30}


def files_conf(spec: PipelineSpec) -> dict[str, str]:
    """Into how many files of which size Delta writes a batch, and compacts a table.

    A session may have served another spec: a setting that is off is set too.

    Without an optimised write, each task writes a separate file into each partition. (Delta for
    Spark has no table property for the size: it does not know `delta.targetFileSize`.)
    """
    size = spec.target_file_size
    optimised = bool(spec.partition_by or size)
    found = {f"{_DELTA}.optimizeWrite.enabled": str(optimised).lower()}
    if size is None:
        return found
    least = str(int(size[:-1]) * _UNITS[size[-1]])
    return found | {
        f"{_DELTA}.optimizeWrite.binSize": size,
        f"{_DELTA}.optimize.maxFileSize": least,
        f"{_DELTA}.optimize.minFileSize": least,
    }
