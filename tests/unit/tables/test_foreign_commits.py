"""What others did to the table: what a RESTORE undid, by a model; and which commits are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import ResetNeeded, TableRefused
from sluice.tables.foreign_commits import (
    UNKNOWN,
    TableCommit,
    brought_back,
    in_effect,
    judged_up_to,
    require_all_there,
    require_no_foreign_commits,
    restores_of,
)

from tests.unit.builders import batch, offsets

OURS = "sluice:flights:forward:1"


def write(version: int, operation: str = "WRITE", writer: str = OURS) -> TableCommit:
    return TableCommit(version, operation, None, (writer,) if writer else ())


def restore(version: int, to: int) -> TableCommit:
    return TableCommit(version, "RESTORE", to)


@st.composite
def logs(draw: st.DrawFn) -> list[TableCommit]:
    """A log of writes and RESTOREs, each to a version before it."""
    commits = [write(0)]
    for version in range(1, draw(st.integers(1, 12))):
        to = draw(st.none() | st.integers(0, version - 1))
        commits.append(write(version) if to is None else restore(version, to))
    return commits


def tables_of(commits: list[TableCommit]) -> list[frozenset[int]]:
    """The model: the table at a version is the set of the writes that made it."""
    tables: list[frozenset[int]] = []
    for each in commits:
        before = tables[-1] if tables else frozenset()
        tables.append(before | {each.version} if each.restored is None else tables[each.restored])
    return tables


@given(logs())
def test_a_write_is_in_effect_when_it_is_among_those_that_made_the_table(
    commits: list[TableCommit],
) -> None:
    for at, table in enumerate(tables_of(commits)):
        written = {each.version for each in commits if each.restored is None}
        there = {each for each in written if in_effect(each, at, restores_of(commits))}
        assert there == table


@given(logs(), st.data())
def test_what_was_undone_by_a_moment_and_is_there_again_has_been_brought_back(
    commits: list[TableCommit], data: st.DataObject
) -> None:
    judged = data.draw(st.integers(0, len(commits) - 1))
    back = {each.version for each in brought_back(commits, judged) if each.restored is None}
    tables = tables_of(commits)
    assert back == {each for each in tables[-1] - tables[judged] if each <= judged}


def test_what_was_undone_is_named_with_its_ranges_and_the_way_on() -> None:
    undone = [
        batch(offsets(0, 10), offsets(3, 3, 1), number=4),
        batch(offsets(10, 15), offsets(3, 9, 1), number=5),
    ]
    with pytest.raises(ResetNeeded) as refused:
        require_all_there("/t", "flights", undone, [], [restore(7, 3)])
    text = str(refused.value)
    assert text.startswith("/t: version 7 is a RESTORE to version 3: expected the rows of every")
    assert "found forward-1-4, forward-1-5 undone: flights[0] [0, 15), flights[1] [3, 9)." in text
    assert "`sluice reset flights --to-table`" in text
    assert "RESTORE the table to version 6" in text
    require_all_there("/t", "flights", [], [], [restore(7, 3)])


def test_what_a_restore_has_brought_back_is_named_as_well() -> None:
    back = [batch(offsets(0, 10), number=4)]
    with pytest.raises(
        ResetNeeded, match=r"found forward-1-4 there again, .*: flights\[0\] \[0, 10"
    ):
        require_all_there("/t", "flights", [], back, [restore(7, 3)])


@pytest.mark.parametrize(
    ("commit", "texts"),
    [
        (write(4, "CREATE OR REPLACE TABLE AS SELECT", ""), ["another in its place", "version 3"]),
        (write(4, "REPLACE TABLE", ""), ["another in its place", "version 3"]),
        (write(0, "CLONE", ""), ["found a copy", "Put the original back"]),
        (write(4, "WRITE", "somebody"), ["'somebody': another writer", "version 3"]),
        (write(4, "WRITE", "sluice:flights2:forward:1"), ["'sluice:flights2:forward:1'"]),
    ],
)
def test_a_table_that_is_not_ours_any_more_is_refused(
    commit: TableCommit, texts: list[str]
) -> None:
    with pytest.raises(TableRefused) as refused:
        require_no_foreign_commits("/t", "flights", [commit], {})
    assert f"/t: version {commit.version} is a {commit.operation}" in str(refused.value)
    for text in texts:
        assert text in str(refused.value)
    if commit.version:
        require_no_foreign_commits("/t", "flights", [commit, restore(5, 3)], {})


def test_a_table_that_was_created_by_another_has_no_version_to_go_back_to() -> None:
    for first in (write(0, "CREATE OR REPLACE TABLE AS SELECT", ""), write(0, "WRITE", "somebody")):
        with pytest.raises(TableRefused, match="move this one away, and `sluice recover flights`"):
            require_no_foreign_commits("/t", "flights", [first], {})


def test_a_restore_to_a_version_that_is_gone_stops_the_line_until_it_is_undone_or_judged() -> None:
    unknown = restore(5, UNKNOWN)
    with pytest.raises(TableRefused, match=r"unknown what it undid. RESTORE .* to version 4,"):
        require_no_foreign_commits("/t", "flights", [unknown], {})
    require_no_foreign_commits("/t", "flights", [unknown, restore(6, 4)], {})
    assert not in_effect(4, 7, restores_of([unknown, write(7)]))
    assert in_effect(7, 7, restores_of([unknown, write(7)]))
    assert in_effect(4, 7, restores_of(judged_up_to([unknown, write(7)], 5)))
    assert judged_up_to([unknown], 4) == [unknown]


@pytest.mark.parametrize(
    "operation", ["OPTIMIZE", "VACUUM START", "VACUUM END", "ADD COLUMNS", "DELETE", "MERGE"]
)
def test_other_work_on_the_table_is_no_reason_to_refuse_it(operation: str) -> None:
    require_no_foreign_commits("/t", "flights", [write(3), write(4, operation, "")], {"a": "b"})


def test_transaction_ids_that_expire_are_refused() -> None:
    properties = {"delta.setTransactionRetentionDuration": "interval 1 day"}
    with pytest.raises(TableRefused, match="setTransactionRetentionDuration, found 'interval 1"):
        require_no_foreign_commits("/t", "flights", [], properties)
