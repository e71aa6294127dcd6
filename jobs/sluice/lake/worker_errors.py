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
# Python's own words, and PySpark's; they name no host.
_LACKS_A_MODULE = re.compile(
    r"(?:ModuleNotFoundError|ImportError): No module named '(?P<module>(?:google|pyarrow)[\w.]*)'"
)
_LACKS_PYTHON = re.compile(
    r"\((?P<host>\S+) executor (?P<executor>\S+)\): java\.io\.IOException: Cannot run program"
    r' "(?P<program>[^"]+)"'
)
_OTHER_PYTHON = re.compile(
    r"\[PYTHON_VERSION_MISMATCH\] Python in worker has different version: (?P<found>[\d.]+)\D+"
    r"(?P<expected>[\d.]+\d)"
)
_PYTHON = (
    " Protobuf is decoded by Python: give every worker Python 3.11 with protobuf and pyarrow, in"
    " the versions of requirements.txt, and name it in PYSPARK_PYTHON: docs/spark-clusters.md"
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


def _without_module(found: re.Match[str]) -> str:
    return (
        f"a worker's Python: expected the module {found['module']}, found no such module.{_PYTHON}"
    )


def _without_python(found: re.Match[str]) -> str:
    return (
        f"executor {found['executor']} on {found['host']}: expected the program"
        f" {found['program']}, found no such program.{_PYTHON}"
    )


def _with_other_python(found: re.Match[str]) -> str:
    return (
        f"a worker's Python: expected version {found['expected']}, as here, found"
        f" {found['found']}.{_PYTHON}"
    )


_TOLD: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_STARVED, _starved),
    (_UNSEEN, _unseen),
    (_UNREADABLE, _unreadable),
    (_LACKS_A_CLASS, _without_class),
    (_LACKS_ITS_LAMBDA, _without_class),
    (_LACKS_A_MODULE, _without_module),
    (_LACKS_PYTHON, _without_python),
    (_OTHER_PYTHON, _with_other_python),
)
