"""Spark's configuration for a warehouse on S3: how it is reached, and what commits there.

Keys are not in it: Spark finds them in the environment of its driver (SparkHadoopUtil.scala).
"""

from __future__ import annotations

from collections.abc import Mapping

from sluice.errors import SettingsError
from sluice.tables.s3_access import ENDPOINT, REGION, VIRTUAL_HOST

LOG_STORE_KEY, LOG_STORE = "spark.delta.logStore.s3a.impl", "sluice.S3LogStore"

# S3A's defaults try for minutes, some faults for ever; a task is tried again as a whole.
_BOUNDED = {
    "attempts.maximum": "3",
    "retry.limit": "4",
    "retry.interval": "200ms",
    "retry.throttle.limit": "5",
    "retry.throttle.interval": "200ms",
    "connection.establish.timeout": "15s",
    "connection.timeout": "30s",
}


def s3_conf(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings, from the variables of AWS' own clients."""
    reached = {
        "endpoint": environment.get(ENDPOINT, ""),
        "endpoint.region": environment.get(REGION, ""),
        "path.style.access": str(environment.get(VIRTUAL_HOST) != "true").lower(),
    }
    found = {key: text for key, text in reached.items() if text} | _BOUNDED
    return {LOG_STORE_KEY: LOG_STORE, **{f"spark.hadoop.fs.s3a.{k}": v for k, v in found.items()}}


def require_exclusive(found: str | None, where: str) -> None:
    """Raises SettingsError unless commits are made by the class that never overwrites."""
    if found != LOG_STORE:
        raise SettingsError(
            f"{where}: expected {LOG_STORE_KEY}={LOG_STORE}, found {found or 'no such setting'}:"
            " commits to S3 could overwrite each other. Start Spark with this setting, and with the"
            " jars for S3 on its class path: docs/object-stores.md"
        )
