"""The log store: the class with which Spark writes a commit to a Delta log."""

from __future__ import annotations

import logging

from sluice.lake.own_classes import JAR, LOG_STORE, LOG_STORE_KEY

log = logging.getLogger(__name__)


def warn_of_overwriting(found: str | None, where: str) -> None:
    """Log a warning where commits are made by one of Delta's own log stores, or by its default.

    All of them look whether a local file is there and then write over it. Another class may be
    named: then its author answers for it.
    """
    if found is None or found.startswith("io.delta.storage."):
        log.warning(
            "%s: expected %s=%s, found %s: a commit could overwrite another process's at the same"
            " moment. Start Spark with this setting, and with %s of `make setup` on its class path",
            where,
            LOG_STORE_KEY,
            LOG_STORE,
            found or "no such setting",
            JAR,
        )
