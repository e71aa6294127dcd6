"""Reading ahead: Delta's state of a table, computed before a commit needs it.

Delta needs it for each commit that carries a transaction id (`txnVersion` in its
OptimisticTransaction.scala), computes it with two small queries, and keeps it in the JVM until the
next version. That is half of a small batch on a warm server, which does it here between two runs. A
young JVM takes seconds for it, most of all to compile the queries: here it interprets them, while
the batch is being prepared.
"""

from __future__ import annotations

import logging
from threading import Thread

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

log = logging.getLogger(__name__)

_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def before_a_commit(spark: SparkSession, uri: str) -> None:
    """Let a JVM of our own begin to read the table's log; a commit waits for what is left of it."""
    if not is_remote():
        _begin(spark.newSession(), uri, _INTERPRETED)


def after_a_commit(spark: SparkSession, uri: str) -> None:
    """Let a server read the table's log for the next run; no caller waits for it."""
    if is_remote():
        _begin(spark, uri, {})


def _begin(spark: SparkSession, uri: str, conf: dict[str, str]) -> None:
    Thread(target=_read, args=(spark, uri, conf), name="log ahead", daemon=True).start()


def _read(spark: SparkSession, uri: str, conf: dict[str, str]) -> None:
    try:
        for key, value in conf.items():
            spark.conf.set(key, value)
        # The cheapest statement that needs the state; a client that has gone does not end it.
        spark.sql(f"DESCRIBE DETAIL delta.`{uri}`")
    except Exception as problem:
        log.debug("%s: the log was not read ahead: %s", uri, problem)
