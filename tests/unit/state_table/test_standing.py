"""State standing: each reason why a state table is not trusted, and that there is no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sluice.state_table.commits import REBUILDING, StateCommit
from sluice.state_table.spans import Kind
from sluice.state_table.standing import FoundLog, FoundState, StateVersion, differences

LOG = FoundLog("log", 9, 1)


def commit(after: int, upto: int, kind: Kind = "appended", **said: Any) -> StateCommit:
    return replace(StateCommit("log", after, upto, "d1", kind, 0, 1), **said)


def refreshed(version: int, after: int, upto: int, kind: Kind = "appended") -> StateVersion:
    return StateVersion(version, "MERGE", True, upto, commit(after, upto, kind))


CREATED = StateVersion(0, "CREATE TABLE", False)
FIRST = refreshed(1, -1, 4, "everything")
SECOND = refreshed(2, 4, 7)
NEWEST_FIRST = (SECOND, FIRST, CREATED)
FOUND = FoundState("state", 2, 7, "d1", NEWEST_FIRST)


def why(found: FoundState, log: FoundLog = LOG) -> list[str]:
    return list(differences(found, log))


def test_a_table_that_only_refreshes_wrote_is_trusted() -> None:
    assert why(FOUND) == []
    assert FOUND.newest == SECOND.commit


def test_a_table_that_was_created_and_has_no_rows_is_new() -> None:
    found = FoundState("state", 0, None, "d1", (CREATED,))
    assert found.is_new
    assert why(found) == []


def test_empty_commits_of_others_change_nothing() -> None:
    others = StateVersion(3, "SET TBLPROPERTIES", False)
    assert why(replace(FOUND, version=3, versions=(others, *NEWEST_FIRST))) == []


def test_a_refresh_that_began_at_or_before_where_the_table_stood_is_trusted() -> None:
    late = refreshed(3, 4, 8)
    assert why(replace(FOUND, version=3, stands_at=8, versions=(late, *NEWEST_FIRST))) == []


REFUSED = [
    (
        replace(FOUND, stands_at=REBUILDING),
        LOG,
        "expected a whole table, found one that is being rebuilt, or whose rebuild was interrupted",
    ),
    (
        replace(FOUND, stands_at=None),
        LOG,
        "expected a commit that says at which version of the data table it stands, found none",
    ),
    (
        replace(FOUND, stands_at=8),
        LOG,
        "expected a commit that says at which version of the data table it stands, found none",
    ),
    (
        replace(FOUND, versions=(replace(SECOND, commit=None, changes_rows=False),)),
        LOG,
        "expected a commit that says at which version of the data table it stands, found none",
    ),
    (
        replace(FOUND, versions=(StateVersion(3, "DELETE", True), *NEWEST_FIRST)),
        LOG,
        "expected rows that only Sluice writes, found a DELETE in version 3",
    ),
    (
        FOUND,
        replace(LOG, table_id="other"),
        "expected the state of data table other, found that of log",
    ),
    (
        FOUND,
        replace(LOG, version=6),
        "expected the state at version 6 of the data table or before, found 7: an older copy of"
        " the data table was put back",
    ),
    (
        replace(FOUND, digest="d2"),
        LOG,
        "expected rules d2, found d1: the spec's `state` was changed",
    ),
    (
        replace(FOUND, digest="d2", digest_then="d1"),
        LOG,
        "expected the columns that Sluice left, found others: the table was altered",
    ),
    (
        replace(FOUND, versions=(refreshed(2, 5, 7), FIRST)),
        LOG,
        "expected the table at version 5 of the data table before version 2, found 4",
    ),
    (
        replace(FOUND, versions=(refreshed(2, 3, 7, "rewritten"), FIRST)),
        LOG,
        "expected the table at version 3 of the data table before version 2, found 4",
    ),
]


@pytest.mark.parametrize(("found", "log", "expected"), REFUSED)
def test_anything_else_is_refused_with_what_was_expected_and_found(
    found: FoundState, log: FoundLog, expected: str
) -> None:
    assert why(found, log) == [expected]


def test_each_reason_is_told() -> None:
    others = StateVersion(3, "UPDATE", True)
    found = replace(FOUND, digest="d2", versions=(others, *NEWEST_FIRST))
    assert len(why(found, FoundLog("other", 9, None))) == 3


def test_a_rebuild_at_work_says_since_when() -> None:
    begun = StateVersion(
        3, "WRITE", False, REBUILDING, at=datetime(2026, 11, 30, 2, 41, tzinfo=UTC)
    )
    found = replace(FOUND, version=3, stands_at=REBUILDING, versions=(begun, *NEWEST_FIRST))
    (told,) = why(found)
    assert "being rebuilt since 2026-11-30 02:41:00 UTC, or" in told


def test_rows_without_any_commit_of_ours_are_no_new_table() -> None:
    written = StateVersion(1, "WRITE", True)
    found = FoundState("state", 1, None, "d1", (written, CREATED))
    assert not found.is_new
    assert len(why(found)) == 1


def test_a_table_of_the_whole_log_needs_no_place_before_it() -> None:
    anew = refreshed(3, 9, 9, "everything")
    assert why(replace(FOUND, version=3, stands_at=9, versions=(anew, *NEWEST_FIRST))) == []
