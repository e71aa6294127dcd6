"""How a process of the product ended, and whether a fault explains it."""

from __future__ import annotations

import re
import signal
from collections.abc import Set

from sluice.errors import SluiceError

KILLED, TERMINATED = "SIGKILL", "SIGTERM"
# What a failpoint does to the process that meets it, by its last word.
EXCUSED_BY = {
    "kill": {KILLED},
    "term": {TERMINATED},
    "raise": {"SparkFailed"},
    "halt": {"SparkFailed"},
    "exists": set[str](),
}
_NAMES = "|".join(each.__name__ for each in SluiceError.__subclasses__())
_ERROR = re.compile(rf"^({_NAMES}): ", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last)"


def verdict(code: int, errors: str) -> str:
    """How it ended, in a word: ok, a signal's name, the class of the error, or a traceback.

    A traceback before the error is Spark's: a thread of it that finds the JVM gone.
    """
    if code == 0:
        return "ok"
    if code < 0:
        return signal.Signals(-code).name
    if said := _ERROR.findall(errors):
        return str(said[-1])
    return "Traceback" if _TRACEBACK in errors else f"exit code {code} without a word"


def explained(how: str, excuses: Set[str]) -> bool:
    """Whether it may end like this, with these faults in force."""
    return how == "ok" or how in excuses
