"""What others did to the table: what a RESTORE undid, by a model; and which commits are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import ResetNeeded, TableRefused
from sluice.tables.foreign_commits import (
    UNKNOWN,
    LandedBatch,
    TableCommit,
    judged_up_to,
    require_all_there,
    require_no_foreign_commits,
    undone_by_restore,
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


@given(logs())
def test_a_batch_is_undone_when_its_version_is_not_among_those_that_made_the_table(
    commits: list[TableCommit],
) -> None:
    # The model: the table at a version is the set of the writes that made it.
    tables: list[frozenset[int]] = []
    for each in commits:
        before = tables[-1] if tables else frozenset()
        tables.append(before | {each.version} if each.restored is None else tables[each.restored])
    landed = [LandedBatch(batch(), each.version) for each in commits if each.restored is None]
    undone = {each.version for each in undone_by_restore(landed, commits)}
    assert undone == {each.version for each in landed} - tables[-1]


def test_nothing_is_undone_where_nothing_was_done_by_others() -> None:
    assert undone_by_restore([LandedBatch(batch(), 3)], []) == []


def test_what_was_undone_is_named_with_its_ranges_and_the_way_on() -> None:
    landed = [
        LandedBatch(batch(offsets(0, 10), offsets(3, 3, 1), number=4), 4),
        LandedBatch(batch(offsets(10, 15), offsets(3, 9, 1), number=5), 5),
    ]
    with pytest.raises(ResetNeeded) as refused:
        require_all_there("/t", "flights", landed, [restore(7, 3)])
    text = str(refused.value)
    assert text.startswith("/t: version 7 is a RESTORE to version 3: expected the rows of every")
    assert "found forward-1-4, forward-1-5 undone: flights[0] [0, 15), flights[1] [3, 9)." in text
    assert "`sluice reset flights --to-table`" in text
    assert "RESTORE the table to version 6" in text
    require_all_there("/t", "flights", [], [restore(7, 3)])


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
    landed = [LandedBatch(batch(number=4), 4), LandedBatch(batch(number=5), 7)]
    assert undone_by_restore(landed, [unknown, write(7)]) == landed[:1]
    assert undone_by_restore(landed, judged_up_to([unknown, write(7)], 5)) == []
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
