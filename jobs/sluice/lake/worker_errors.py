"""Worker errors: what a cluster's workers lack, told from the errors that Spark reports. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sluice.lake.causes import Cause

# Ours: jobs/jvm/watch/StarvedJobs.scala, as the reason for which a job was cancelled.
_STARVED = re.compile(
    r"SLUICE-STARVED of (?P<master>\S+): no task has run for (?P<seconds>\d+) s,"
    r" executors: (?P<executors>\d+)"
)
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
_SAME_WAREHOUSE = "Give all workers the same warehouse, at the same path: docs/spark-clusters.md"
_JARS = (
    " Put Sluice's jars for Spark on the class path of every worker (its image's `jars`"
    " folder), or name them in `spark.jars`: docs/spark-clusters.md"
)


def lack_of_workers(causes: Iterable[Cause]) -> str | None:
    """What a worker lacks, which one, and the next move; None where Spark reports another cause."""
    for cause in causes:
        if told := _told(cause):
            return told
    return None


def _told(cause: Cause) -> str | None:
    match cause.condition:
        case "SPARK_JOB_CANCELLED":
            found = _STARVED.fullmatch(cause.parameters.get("reason", ""))
            return found and _starved(found)
        case "SLUICE_UNSEEN":
            return _unseen(cause.parameters["file"])
        case "FAILED_READ_FILE.FILE_NOT_EXIST":
            return _unreadable(cause.parameters["path"])
        case "":
            # An error that a task raised has a condition, or is a class of its own.
            lacking = _LACKS_A_CLASS.search(cause.message) or _LACKS_ITS_LAMBDA.search(
                cause.message
            )
            return lacking and _without_class(lacking)
    return None


def _starved(found: re.Match[str]) -> str:
    return (
        f"expected an executor of {found['master']} to run a task within {found['seconds']} s,"
        f" found {found['executors']} executors and none at work. Start its workers, or free cores"
        " and memory there; spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout waits"
        " longer"
    )


def _unseen(file: str) -> str:
    return (
        f"expected {file}, which a worker has written, found no such file here: a worker does not"
        " see the warehouse as the driver does, or something deleted it, as VACUUM with a short"
        f" retention does. Let VACUUM keep seven days. {_SAME_WAREHOUSE}"
    )


def _unreadable(file: str) -> str:
    return (
        f"expected {file}, which a worker was to read, found no such file there: it does not see"
        " the warehouse as the driver does, or something deleted it meanwhile, as VACUUM with a"
        f" short retention does. Let VACUUM keep seven days. {_SAME_WAREHOUSE}"
    )


def _without_class(found: re.Match[str]) -> str:
    name = found["class"].replace("/", ".")
    return (
        f"executor {found['executor']} on {found['host']}: expected the class {name}, found none."
        f"{_JARS}"
    )
