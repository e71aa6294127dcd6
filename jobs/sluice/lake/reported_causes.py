"""Reported causes: all the errors behind an exception of pyspark, from its JVM or its server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from sluice.lake.causes import Cause

# The attribute in which a server's answer is kept (`server.kept_causes`).
CAUSES = "sluice_causes"


def causes_of(problem: BaseException) -> tuple[Cause, ...]:
    """The errors of the JVM behind an exception, the outermost first; or pyspark's own."""
    kept: tuple[Cause, ...] | None = getattr(problem, CAUSES, None)
    if kept is not None:
        return kept
    thrown = getattr(problem, "java_exception", None) or getattr(problem, "_origin", None)
    if thrown is not None:
        return tuple(_of_the_jvm(thrown))
    if isinstance(problem, PySparkException):
        said = (problem.getCondition() or "", problem.getMessageParameters() or {})
        return (Cause(type(problem).__name__, *said, str(problem)),)
    return ()


def _of_the_jvm(thrown: Any) -> Iterator[Cause]:
    """Those of a JVM of our own; none where it has died meanwhile."""
    while thrown is not None:
        try:
            kind, message = thrown.getClass().getName(), thrown.getMessage() or ""
            condition = _said(thrown, "getCondition") or ""
            yield Cause(kind, condition, dict(_said(thrown, "getMessageParameters") or {}), message)
            thrown = thrown.getCause()
        except (Py4JError, OSError):
            return


def _said(thrown: Any, method: str) -> Any:
    """What Spark's own errors say besides their text, and Delta's; any other lacks the methods.

    Each is asked by itself: py4j does not find a method that a class has of an interface only, and
    Delta's ConcurrentTransactionException has its parameters so, not its condition.
    """
    try:
        return getattr(thrown, method)()
    except Py4JError:
        return None
