"""Failpoints: steps of the protocol at which a test can stop the process.

    SLUICE_TEST=1 SLUICE_FAILPOINT="plan durable: kill" sluice run flights

Two more steps lie inside Delta's commit, which runs no Python: "files written" and "reply lost".
The fault tests reach them with their own log store.

Without SLUICE_TEST the variable is refused, so that it cannot stop a production run by accident.

In its own process a test may set a hook instead, which is called at every step with its name.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from sluice.errors import SettingsError, SparkFailed

log = logging.getLogger(__name__)

POINTS = (
    "before planning",
    "offsets listed",
    "readers kept",
    "plan durable",
    "spark started",
    "reading",
    "kept rows known",
    "quarantine written",
    "commit landed",
    "before receipt",
    "quarantine to close",
    "state looked for",
    "state span known",
    "state given up",
    "state created",
    "state computed",
    "keys to collect",
    "state committed",
    "before mirror",
    "after mirror",
    "reset intended",
    "fence stands",
    "drop recorded",
    "quarantine replaced",
    "quarantine cleared",
    "skip fenced",
    "offsets set aside",
    "recovery fenced",
    "offsets to commit",
    "offsets committed",
)


def _raise() -> None:
    raise SparkFailed("a failpoint raised this")


def _hang() -> None:
    while True:
        time.sleep(1)


_KINDS: Mapping[str, Callable[[], None]] = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "term": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "raise": _raise,
    "hang": _hang,
    "freeze": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


_hooks: list[Callable[[str], None]] = []


@contextmanager
def reaching(hook: Callable[[str], None]) -> Iterator[None]:
    """Call the hook at every step while the block lasts: for tests."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


def reach(point: str) -> None:
    """Mark that a step is reached; does nothing unless a test has set a failpoint or a hook.

    Raises SettingsError when a failpoint is set outside a test or is unknown.
    """
    for hook in _hooks:
        hook(point)
    wanted = os.environ.get("SLUICE_FAILPOINT")
    if not wanted:
        return
    chosen, _, kind = (part.strip() for part in wanted.partition(":"))
    if os.environ.get("SLUICE_TEST") != "1" or chosen not in POINTS or kind not in _KINDS:
        raise SettingsError(
            f"SLUICE_FAILPOINT: found {wanted!r}; it is for tests only, with SLUICE_TEST=1,"
            f" one of {', '.join(POINTS)}, and one of {', '.join(_KINDS)}. Unset it."
        )
    if chosen == point:
        log.warning("failpoint %s: %s", point, kind)
        _KINDS[kind]()
