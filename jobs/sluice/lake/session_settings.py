"""A session's settings: ours and the spec's, and nothing that Spark's files or a server add.

What a query does is decided by its session. So whatever no spec may set goes back to Spark's own
default, and what cannot be set is refused by its name.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import Protocol

from pyspark.errors import PySparkException

from sluice.errors import SettingsError
from sluice.lake.requirements import fixed_at_start
from sluice.spec_file.spark_keys import EXACT_CONF, strange_keys

log = logging.getLogger(__name__)


class Conf(Protocol):
    """The settings of a session, here or on a server."""

    @property
    def getAll(self) -> dict[str, str]: ...

    def set(self, key: str, value: str) -> None: ...

    def unset(self, key: str) -> None: ...


def hold_to(conf: Conf, wanted: Mapping[str, str], where: str) -> None:
    """Give the session these settings, and take away what else would decide about its queries.

    Raises SettingsError, with its name, for one that rows depend on and that cannot be set;
    SpecError for another one.
    """
    found = conf.getAll
    taken = [key for key in strange_keys(found, wanted) if _unset(conf, key)]
    if taken:
        log.info("%s: not used, as no spec may set it: %s", where, ", ".join(taken))
    for key, value in wanted.items():
        if found.get(key) != value and not _set(conf, key, value):
            if key not in EXACT_CONF:
                raise fixed_at_start(where, key)
            raise _differs(where, key, found.get(key, "no such setting"))
    now = conf.getAll
    for key in EXACT_CONF.keys() & wanted.keys():
        if now.get(key) != wanted[key]:
            raise _differs(where, key, now.get(key, "no such setting"))


def _unset(conf: Conf, key: str) -> bool:
    """Whether it is gone. What was fixed when Spark started decides about no query."""
    try:
        conf.unset(key)
    except PySparkException as problem:
        if not _is_fixed(problem):
            raise
        return False
    return True


def _set(conf: Conf, key: str, value: str) -> bool:
    try:
        with warnings.catch_warnings():
            # Spark names what it will remove one day; a default is pinned all the same.
            warnings.simplefilter("ignore")
            conf.set(key, value)
    except PySparkException as problem:
        if not _is_fixed(problem):
            raise
        return False
    return True


def _is_fixed(problem: PySparkException) -> bool:
    return "CANNOT_MODIFY" in str(problem.getCondition())


def _differs(where: str, key: str, found: str) -> SettingsError:
    return SettingsError(
        f"{where}: expected {key}={EXACT_CONF[key]}, which what lands depends on, found {found}"
        " and no way to change it in a session. Start Spark with this setting."
    )
