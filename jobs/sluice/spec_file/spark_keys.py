"""Spark keys: what a spec may set, and what looks like a secret. Pure.

A spec's Spark configuration is in the command line of spark-submit, in logs and in previews, so no
credential may be in it. What is allowed is listed; names and values that look secret are refused
besides, and redacted wherever Spark and Airflow show a configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sluice.spec_file.table_properties import require_allowed

# What lands depends on these, so neither a spec nor a server can change them. All but the first are
# the defaults of the Spark that is tested; a distribution may have others.
EXACT_CONF = {
    "spark.sql.session.timeZone": "UTC",
    # Spark's default is the deprecated INT96 (PARQUET-323). Other readers convert it to 64-bit
    # nanoseconds, which turns year 9999 into another year. Milliseconds would cut digits.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.ansi.enabled": "true",
    # A text cast to the other kind loses the offset that it names.
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # A replacement rewrites files: one that was passed over would lose its other rows.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Dates before 1582 are shifted by any other mode, also where a replacement copies rows.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.writeLegacyFormat": "false",
    # How a derived column is understood, and what it gives.
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.function.concatBinaryAsString": "false",
    "spark.sql.function.eltOutputAsString": "false",
    "spark.sql.legacy.castComplexTypesToString.enabled": "false",
    "spark.sql.legacy.sizeOfNull": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    # What a commit says, and which rows it replaces.
    "spark.databricks.delta.commitInfo.enabled": "true",
    "spark.databricks.delta.schema.autoMerge.enabled": "false",
    "spark.databricks.delta.stats.collect": "true",
    "spark.sql.sources.partitionOverwriteMode": "STATIC",
}

# `x.*` stands for every key below x.
ALLOWED = (
    "spark.broadcast.*",
    "spark.cores.max",
    "spark.databricks.delta.checkpoint.partSize",
    "spark.databricks.delta.commitLock.enabled",
    "spark.databricks.delta.optimize.*",
    "spark.databricks.delta.optimizeWrite.*",
    "spark.databricks.delta.snapshotPartitions",
    "spark.databricks.delta.vacuum.parallelDelete.*",
    "spark.default.parallelism",
    "spark.delta.logStore.*",
    "spark.driver.*",
    "spark.dynamicAllocation.*",
    "spark.eventLog.*",
    "spark.executor.*",
    "spark.io.compression.*",
    "spark.jars",
    "spark.jars.packages",
    "spark.kafka.consumer.*",
    "spark.kubernetes.driver.limit.cores",
    "spark.kubernetes.driver.request.cores",
    "spark.kubernetes.executor.limit.cores",
    "spark.kubernetes.executor.request.cores",
    "spark.local.dir",
    "spark.locality.*",
    "spark.master",
    "spark.memory.*",
    "spark.network.timeout",
    "spark.reducer.*",
    "spark.scheduler.*",
    "spark.serializer",
    "spark.shuffle.*",
    "spark.speculation",
    "spark.speculation.*",
    "spark.sql.adaptive.*",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.codegen.*",
    "spark.sql.debug.maxToStringFields",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.maxPartitionNum",
    "spark.sql.files.maxRecordsPerFile",
    "spark.sql.files.minPartitionNum",
    "spark.sql.files.openCostInBytes",
    "spark.sql.inMemoryColumnarStorage.*",
    "spark.sql.leafNodeDefaultParallelism",
    "spark.sql.maxPlanStringLength",
    "spark.sql.parquet.columnarReaderBatchSize",
    "spark.sql.parquet.compression.codec",
    "spark.sql.shuffle.partitions",
    "spark.sql.sources.parallelPartitionDiscovery.*",
    "spark.task.*",
    "spark.ui.*",
)
_ALLOWED = re.compile(
    "|".join(
        re.escape(each).replace(r"\*", "[A-Za-z0-9_.-]+") if each.endswith("*") else re.escape(each)
        for each in ALLOWED
    )
)
# The settings of a session that decide what a query does.
_OF_A_QUERY = ("spark.sql.", "spark.databricks.delta.")
# Except these, which belong to the administrator of Spark and decide no row.
_OF_SPARK_ITSELF = (
    *("spark.sql.artifact.", "spark.sql.catalog", "spark.sql.connect.", "spark.sql.event."),
    *("spark.sql.execution.", "spark.sql.extensions", "spark.sql.hive.", "spark.sql.pyspark."),
    *("spark.sql.queryExecutionListeners", "spark.sql.redaction.", "spark.sql.streaming."),
    *("spark.sql.ui.", "spark.sql.warehouse.dir"),
)
_TABLE_DEFAULTS = "spark.databricks.delta.properties.defaults."
# The same words in Python and Java. Azure's account keys end in `.key.<account>.<domain>`.
SECRET = (
    "(?i)secret|passw|passphrase|token|jaas|credential|private|account|truststore|keystore"
    r"|(access|api|encryption|shared|signing)[._-]?key|key$|[._]key[._]"
)
_SECRET = re.compile(SECRET)
_SECRET_VALUE = re.compile(
    # A user and password in a URL, a PEM block, or an option such as -Dx.password=y.
    r"://[^/\s@]*:[^/\s@]+@|-----BEGIN"
    r"|(secret|passw\w*|passphrase|token|jaas|credentials?|[._-]key|apikey)[\"']?\s*[=:]",
    re.IGNORECASE,
)


def looks_secret(key: str) -> bool:
    """Whether the value of a key of this name must not be shown."""
    return bool(_SECRET.search(key))


def is_of_a_query(key: str) -> bool:
    """Whether it is a setting of a session, and not of the whole Spark."""
    return key.startswith(_OF_A_QUERY)


def strange_keys(found: Mapping[str, str], ours: Iterable[str]) -> list[str]:
    """Settings that a session has from elsewhere (Spark's own files, a server) and no spec may set.

    They include defaults of table properties, except those that a spec may also set.
    """
    known = {*ours, *EXACT_CONF}
    return sorted(
        key
        for key, value in found.items()
        if is_of_a_query(key)
        and not key.startswith(_OF_SPARK_ITSELF)
        and key not in known
        and not _ALLOWED.fullmatch(key)
        and not _is_allowed_property(key, value)
    )


def _is_allowed_property(key: str, value: str) -> bool:
    if not key.startswith(_TABLE_DEFAULTS):
        return False
    try:
        require_allowed({f"delta.{key.removeprefix(_TABLE_DEFAULTS)}": value})
    except ValueError:
        return False
    return True


def key_refusal(key: str, value: str) -> str:
    """Why a spec may not set a key, without the value; empty if it may."""
    if key in EXACT_CONF:
        return f"what lands depends on it, so it is always {EXACT_CONF[key]}; remove it"
    if not _ALLOWED.fullmatch(key):
        why = "not among the keys that a spec may set"
    elif looks_secret(key):
        why = "its name looks like a secret's"
    elif _SECRET_VALUE.search(value):
        why = "its value looks as if it held a secret"
    else:
        return ""
    return (
        f"{why}; allowed: {', '.join(ALLOWED)}. Credentials and cluster-wide settings belong in"
        " Spark's own configuration (spark-defaults.conf) or environment, where Spark runs"
    )
