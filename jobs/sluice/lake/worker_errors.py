"""Worker errors: what a cluster's workers lack, told from what Spark reports. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

# The marks are ours: jobs/jvm/StarvedJobs.scala and LinkLogStore.scala.
_STARVED = re.compile(
    r"SLUICE-STARVED of (?P<master>\S+): no task has run for (?P<seconds>\d+) s,"
    r" executors: (?P<executors>\d+)"
)
_UNSEEN = re.compile(r"SLUICE-UNSEEN (?P<file>.+)")
_UNREADABLE = re.compile(r"\[FAILED_READ_FILE\.FILE_NOT_EXIST\].* reading file (?P<file>\S+?)\.? ")
# TaskSetManager's text: `Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 1): …`.
_LACKS_A_CLASS = re.compile(
    r"\((?P<host>\S+) executor (?P<executor>\S+)\): java\.lang\."
    r"(?:ClassNotFoundException|NoClassDefFoundError): (?P<class>\S+)"
)
# Java's text where a class is missing inside a lambda: the class itself is not named (SPARK-9219).
_LACKS_ITS_LAMBDA = re.compile(
    r"\((?P<host>\S+) executor (?P<executor>\S+)\): java\.lang\.ClassCastException: cannot assign"
    r" instance of java\.lang\.invoke\.SerializedLambda .* in instance of (?P<class>\S+)"
)
_JARS = (
    " Put the jars of `build/jars/spark` on the class path of every worker (its image's `jars`"
    " folder), or name them in `spark.jars`: docs/spark-clusters.md"
)


def lack_of_workers(said: str) -> str | None:
    """What a worker lacks, which one, and the next move; None where Spark reports another cause."""
    for pattern, told in _TOLD:
        if found := pattern.search(said):
            return told(found)
    return None


def _starved(found: re.Match[str]) -> str:
    return (
        f"expected an executor of {found['master']} to run a task within {found['seconds']} s,"
        f" found {found['executors']} executors and none at work. Start its workers, or free cores"
        " and memory there; spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout waits"
        " longer"
    )


def _unseen(found: re.Match[str]) -> str:
    return (
        f"expected {found['file']}, which a worker has written, found no such file here: a worker"
        " does not see the warehouse as the driver does. Give all workers the same warehouse, at"
        " the same path: docs/spark-clusters.md"
    )


def _unreadable(found: re.Match[str]) -> str:
    return (
        f"expected {found['file']}, which a worker was to read, found no such file there: it does"
        " not see the warehouse as the driver does, or the file was removed meanwhile. Give all"
        " workers the same warehouse, at the same path: docs/spark-clusters.md"
    )


def _without_class(found: re.Match[str]) -> str:
    name = found["class"].replace("/", ".")
    return (
        f"executor {found['executor']} on {found['host']}: expected the class {name}, found none."
        f"{_JARS}"
    )


_TOLD: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_STARVED, _starved),
    (_UNSEEN, _unseen),
    (_UNREADABLE, _unreadable),
    (_LACKS_A_CLASS, _without_class),
    (_LACKS_ITS_LAMBDA, _without_class),
)
