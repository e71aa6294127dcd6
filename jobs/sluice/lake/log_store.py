"""The log store: the class with which Spark writes a commit to a Delta log."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_KEY, _CLASS = "spark.delta.logStore.file.impl", "sluice.LinkLogStore"
# `make setup` compiles the class in jobs/jvm into it.
_JAR = "sluice.jar"


def log_store_conf(jars: Path) -> dict[str, str]:
    """The setting that names the class, if its jar is among these; read when a JVM starts."""
    return {_KEY: _CLASS} if (jars / _JAR).is_file() else {}


def warn_of_overwriting(spark: SparkSession, where: str) -> None:
    """Log a warning where commits are made by one of Delta's own log stores.

    All of them look whether a local file is there and then write over it. Another class may be
    named: then its author answers for it.
    """
    found = spark.conf.get(_KEY, None)
    if found is None or found.startswith("io.delta.storage."):
        log.warning(
            "%s: expected %s=%s, found %s: a commit could overwrite another process's at the same"
            " moment. Start Spark with this setting, and with %s of `make setup` on its class path",
            where,
            _KEY,
            _CLASS,
            found or "no such setting",
            _JAR,
        )
