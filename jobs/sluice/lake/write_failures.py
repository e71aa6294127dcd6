"""Write failures: what the errors behind a failed write mean. Pure.

Decided by types and conditions. The only texts that are read are our own marks, with the name of
the attempt in them, which no record can know.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable

from sluice.errors import CommitConflict, CommitFailed
from sluice.lake.causes import Cause
from sluice.lake.worker_errors import lack_of_workers

_RAISED = "USER_RAISED_EXCEPTION"
_NO_PREDECESSOR = "SLUICE_NO_PREDECESSOR"
_ANOTHER_LOG = "SLUICE_ANOTHER_LOG"
# Delta's DeltaConcurrentModificationException and its subclasses.
_CONFLICT = re.compile(r"(DELTA_(?:CONCURRENT_\w+|METADATA_CHANGED|PROTOCOL_CHANGED))(?:\.\w+)?")

# What pyspark says: its client is closed after the answer SESSION_CHANGED; a restarted server does
# not know the statement (pyspark's client/reattach.py); or there is no answer.
_LEFT_ALONE = {
    "NO_ACTIVE_SESSION": "has forgotten this session: it was restarted, or this process must end",
    "RESPONSE_ALREADY_RECEIVED": "has forgotten this statement: it was restarted",
    "RETRIES_EXCEEDED": "does not answer any more",
}
_WHERE_TO_LOOK = 'if that happens with each try: docs/reliability.md, "A Spark server"'


def rows_landed_mark(attempt: str) -> str:
    """What an attempt raises where it would give new types to a table that has rows."""
    return f"SLUICE-ROWS-LANDED {attempt}"


def undecodable_mark(attempt: str) -> str:
    """What an attempt raises, with the reason in base64, at a record that cannot be decoded."""
    return f"SLUICE-UNDECODABLE {attempt}"


def undecodable_reason(causes: Iterable[Cause], attempt: str) -> str | None:
    """Which record stopped an attempt's pass, and why; None where another error did."""
    for said in _raised(causes):
        mark, _, encoded = said.rpartition(" ")
        if mark == undecodable_mark(attempt):
            return b64decode(encoded).decode("utf-8", errors="replace")
    return None


def meaning_of(causes: Iterable[Cause], attempt: str | None) -> Exception | None:
    """The exception that a failed write is to the protocol; None where Spark's own says it."""
    causes = tuple(causes)
    conditions = [each.condition for each in causes]
    for condition in conditions:
        if condition in _LEFT_ALONE:
            said = f"[{condition}] the Spark server {_LEFT_ALONE[condition]}; {_WHERE_TO_LOOK}"
            return RuntimeError(said)
        if conflict := _CONFLICT.fullmatch(condition):
            return CommitConflict(f"another commit came in between ({conflict[1]})")
    if attempt and rows_landed_mark(attempt) in _raised(causes):
        return CommitConflict("another batch gave the table its columns")
    if _NO_PREDECESSOR in conditions:
        return predecessor_missing(causes[conditions.index(_NO_PREDECESSOR)].parameters["commit"])
    if _ANOTHER_LOG in conditions:
        return another_log(causes[conditions.index(_ANOTHER_LOG)].parameters["commit"])
    lack = lack_of_workers(causes)
    return RuntimeError(f"[WORKERS] {lack}") if lack else None


def predecessor_missing(commit: str) -> CommitFailed:
    """The refusal of a commit onto a log that lacks the version before it."""
    return CommitFailed(
        f"{commit}: expected the version before it in the table's log, found none: an older copy of"
        " the table was put back, or the table was removed, while the run was at work. Nothing was"
        " committed; run again."
    )


def another_log(commit: str) -> CommitFailed:
    """The refusal of a batch's commit onto another log than its write was begun on."""
    return CommitFailed(
        f"{commit}: expected the log that the write was begun on, found another: another table, or"
        " another copy of this one, was put in its place while the run was at work. Nothing was"
        " committed; run again."
    )


def _raised(causes: Iterable[Cause]) -> list[str]:
    """What `raise_error` was given."""
    return [each.parameters.get("errorMessage", "") for each in causes if each.condition == _RAISED]
