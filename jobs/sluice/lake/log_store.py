"""The log store: the class with which Spark writes a commit to a Delta log."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sluice.errors import SettingsError
from sluice.lake import s3_conf
from sluice.lake.own_classes import LOG_STORE, LOG_STORE_KEY
from sluice.tables.warehouse import is_on_s3

log = logging.getLogger(__name__)


def check_log_store(setting: Callable[[str], str | None], where: str, uri: str) -> None:
    """Warn where commits to a table at a path could overwrite each other.

    Raises SettingsError where commits to S3 could, as many hosts write there, and on a cluster:
    there Sluice's log store also refuses a commit whose files a worker has written elsewhere.
    """
    if is_on_s3(uri):
        s3_conf.require_exclusive(setting(s3_conf.LOG_STORE_KEY), where)
        return
    master, found = setting("spark.master") or "", setting(LOG_STORE_KEY)
    if found != LOG_STORE and not master.startswith("local"):
        raise SettingsError(
            f"{where}: expected {LOG_STORE_KEY}={LOG_STORE} on the cluster {master}, found"
            f" {found or 'no such setting'}: a commit could name files that only the worker"
            " that wrote them can see. Start Spark with this setting, and with"
            " sluice.jar on its class path: docs/spark-clusters.md"
        )
    _warn_of_overwriting(found, where)


def _warn_of_overwriting(found: str | None, where: str) -> None:
    """Log a warning where commits are made by one of Delta's own log stores, or by its default.

    All of them look whether a local file is there and then write over it. Another class may be
    named: then its author answers for it.
    """
    if found is None or found.startswith("io.delta.storage."):
        log.warning(
            "%s: expected %s=%s, found %s: a commit could overwrite another process's at the same"
            " moment. Start Spark with this setting, and with sluice.jar on its class path",
            where,
            LOG_STORE_KEY,
            LOG_STORE,
            found or "no such setting",
        )
