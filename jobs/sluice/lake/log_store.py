"""The log store: the class with which Spark writes a commit to a Delta log."""

from __future__ import annotations

from pyspark.sql import SparkSession

from sluice.errors import SettingsError

_KEY, _CLASS = "spark.delta.logStore.file.impl", "sluice.LinkLogStore"

# A JVM reads this when it starts. The class is in jobs/jvm.
LOG_STORE_CONF = {_KEY: _CLASS}


def require_log_store(spark: SparkSession, where: str) -> None:
    """Raises SettingsError where commits would be made by one of Delta's own log stores.

    All of them look whether a local file is there and then write over it. Another class may be
    named: then its author answers for it.
    """
    found = spark.conf.get(_KEY, None)
    if found is None or found.startswith("io.delta.storage."):
        raise SettingsError(
            f"{where}: expected {_KEY}={_CLASS}, found {found or 'no such setting'}: a commit could"
            " overwrite another process's. Start Spark with this setting, and with the jar of"
            " build/jvm on its class path"
        )
