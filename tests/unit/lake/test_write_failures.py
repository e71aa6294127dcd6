"""What a failed write means is decided by types and conditions, whatever its texts say."""

from __future__ import annotations

from base64 import b64encode

import pytest
from sluice.errors import CommitConflict, CommitFailed
from sluice.lake.causes import Cause
from sluice.lake.write_failures import (
    meaning_of,
    rows_landed_mark,
    undecodable_mark,
    undecodable_reason,
)

ATTEMPT = "5f0c"
RAISED = "USER_RAISED_EXCEPTION"
REASON = 't[0]@7 - id: expected BIGINT, found "[DELTA_CONCURRENT_APPEND]\nCaused by: ☃"'
WORDS = [
    *("[DELTA_CONCURRENT_APPEND]", "[DELTA_METADATA_CHANGED]", "[RETRIES_EXCEEDED]"),
    *("DELTA_CONCURRENT_APPEND", "[NO_ACTIVE_SESSION]", "SLUICE_NO_PREDECESSOR"),
    "SLUICE_ANOTHER_LOG",
    rows_landed_mark(""),
    rows_landed_mark("another"),
    undecodable_mark("another") + " " + b64encode(b"x").decode(),
    "SLUICE-STARVED of local: no task has run for 1 s, executors: 0",
]


def undecodable(attempt: str = ATTEMPT) -> Cause:
    said = f"{undecodable_mark(attempt)} {b64encode(REASON.encode()).decode()}"
    return Cause("org.apache.spark.SparkRuntimeException", RAISED, {"errorMessage": said}, said)


def test_the_record_that_stopped_a_pass_is_told_in_its_own_words() -> None:
    wrapped = [Cause("java.util.concurrent.ExecutionException"), undecodable()]
    assert undecodable_reason(wrapped, ATTEMPT) == REASON
    assert meaning_of(wrapped, ATTEMPT) is None


def test_the_mark_of_another_attempt_is_not_ours() -> None:
    assert undecodable_reason([undecodable("another")], ATTEMPT) is None


@pytest.mark.parametrize("words", WORDS)
def test_words_in_texts_and_parameters_decide_nothing(words: str) -> None:
    for cause in (
        Cause("x", message=words),
        Cause("x", RAISED, {"errorMessage": words}, words),
        Cause("x", "CAST_INVALID_INPUT", {"expression": words}, words),
        Cause("x", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", {"values": words}, words),
    ):
        assert meaning_of([cause], ATTEMPT) is None
        assert undecodable_reason([cause], ATTEMPT) is None


@pytest.mark.parametrize(
    "condition",
    [
        "DELTA_CONCURRENT_APPEND.WITHOUT_HINT",
        "DELTA_CONCURRENT_TRANSACTION",
        "DELTA_METADATA_CHANGED",
        "DELTA_PROTOCOL_CHANGED.EMPTY_DIRECTORY",
    ],
)
def test_deltas_conflicts_are_known_by_their_conditions(condition: str) -> None:
    met = meaning_of([Cause("io.delta.exceptions.X", condition)], ATTEMPT)
    assert isinstance(met, CommitConflict)
    assert condition.partition(".")[0] in str(met)


def test_rows_that_landed_meanwhile_are_a_conflict() -> None:
    raised = Cause("x", RAISED, {"errorMessage": rows_landed_mark(ATTEMPT)})
    assert isinstance(meaning_of([raised], ATTEMPT), CommitConflict)


def test_a_server_that_is_lost_is_named() -> None:
    met = meaning_of([Cause("RetriesExceeded", "RETRIES_EXCEEDED")], ATTEMPT)
    assert str(met).startswith("[RETRIES_EXCEEDED] the Spark server does not answer any more")


def test_a_commit_without_its_predecessor_was_not_made() -> None:
    met = meaning_of([Cause("sluice.Refused", "SLUICE_NO_PREDECESSOR", {"commit": "/t/4"})], None)
    assert isinstance(met, CommitFailed)
    assert str(met).startswith("/t/4: expected the version before it")


def test_a_commit_onto_another_log_was_not_made() -> None:
    met = meaning_of([Cause("sluice.Refused", "SLUICE_ANOTHER_LOG", {"commit": "/t/4"})], None)
    assert isinstance(met, CommitFailed)
    assert str(met).startswith("/t/4: expected the log that the write was begun on")
