"""What is known of an error of the JVM, by what py4j can ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from sluice.lake.causes import Cause
from sluice.lake.reported_causes import causes_of


@dataclass(frozen=True)
class Thrown:
    """An error in the JVM; py4j finds no method for what is None."""

    kind: str
    condition: str | None = None
    parameters: dict[str, str] | None = None
    cause: Thrown | None = None

    def getClass(self) -> Thrown:
        return self

    def getName(self) -> str:
        return self.kind

    def getMessage(self) -> None:
        return None

    def getCause(self) -> Thrown | None:
        return self.cause

    def getCondition(self) -> str:
        return _found(self.condition)

    def getMessageParameters(self) -> dict[str, str]:
        return _found(self.parameters)


def _found(value: Any) -> Any:
    if value is None:
        raise Py4JError("Method does not exist")
    return value


class Raised(Exception):
    def __init__(self, thrown: Thrown) -> None:
        self.java_exception = thrown


def test_a_condition_counts_also_where_py4j_finds_no_parameters() -> None:
    thrown = Thrown("io.delta.ConcurrentTransactionException", "DELTA_CONCURRENT_TRANSACTION")
    assert causes_of(Raised(thrown)) == (
        Cause("io.delta.ConcurrentTransactionException", "DELTA_CONCURRENT_TRANSACTION"),
    )


def test_an_error_that_is_no_error_of_sparks_has_a_class_and_a_cause() -> None:
    inner = Thrown("sluice.Refused", "SLUICE_NO_PREDECESSOR", {"commit": "/w"})
    assert causes_of(Raised(Thrown("java.lang.Exception", cause=inner))) == (
        Cause("java.lang.Exception"),
        Cause("sluice.Refused", "SLUICE_NO_PREDECESSOR", {"commit": "/w"}),
    )
