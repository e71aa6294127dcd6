"""Spark keys: what a spec may set, and what looks like a secret. Pure.

A spec's Spark configuration is in the command line of spark-submit, in logs and in previews, so no
credential may be in it. What is allowed is listed; names and values that look secret are refused
besides, and redacted wherever Spark and Airflow show a configuration.
"""

from __future__ import annotations

import re

# What lands depends on these, so neither a spec nor a server can change them.
EXACT_CONF = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # A text cast to the other kind loses the offset that it names.
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # A replacement rewrites files: one that was passed over would lose its other rows.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}

# `x.*` stands for every key below x.
ALLOWED = (
    "spark.broadcast.*",
    "spark.cores.max",
    "spark.databricks.delta.*",
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
    "spark.sql.*",
    "spark.task.*",
    "spark.ui.*",
)
_ALLOWED = re.compile(
    "|".join(
        re.escape(each).replace(r"\*", "[A-Za-z0-9_.-]+") if each.endswith("*") else re.escape(each)
        for each in ALLOWED
    )
)
# What Spark hides of a configuration, and the transaction ids that say which batches are committed.
_NOT_A_SPECS = ("spark.sql.redaction.", "spark.databricks.delta.write.txn")
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


def refusal_of(key: str, value: str) -> str:
    """Why a spec may not set a key, without the value; empty if it may."""
    if key in EXACT_CONF:
        return f"what lands depends on it, so it is always {EXACT_CONF[key]}; remove it"
    if not _ALLOWED.fullmatch(key) or key.startswith(_NOT_A_SPECS):
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
