"""State commits: what they say can be read again, and nothing else is taken for it."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.state_table.commits import RowPlace, StateCommit, app_id
from sluice.state_table.counts import StateCounts
from sluice.state_table.spans import Kind

COMMIT = StateCommit("log", 3, 5, "d1", "appended", 7, 1, StateCounts(inserted=2))
NUMBERS = st.integers(min_value=0)
COMMITS = st.builds(
    StateCommit,
    data_table_id=st.text(),
    after=st.integers(min_value=-1),
    data_version=NUMBERS,
    digest=st.text(),
    kind=st.sampled_from(get_args(Kind)),
    state_version=st.none() | NUMBERS,
    log_commit=st.none() | NUMBERS,
    counts=st.builds(StateCounts, **dict.fromkeys(StateCounts().as_dict(), NUMBERS)),
    truncation=st.none() | st.builds(RowPlace, st.text(), NUMBERS, NUMBERS),
)


def test_the_transaction_id_has_the_name_of_the_pipeline() -> None:
    assert app_id("trips") == "sluice:trips:state"


@given(COMMITS)
def test_what_a_commit_says_is_read_back(commit: StateCommit) -> None:
    assert StateCommit.read(commit.text) == commit


def test_the_counts_are_beside_the_rest() -> None:
    assert json.loads(COMMIT.text) == {
        "format_version": 1,
        "data_table_id": "log",
        "after": 3,
        "data_version": 5,
        "digest": "d1",
        "kind": "appended",
        "state_version": 7,
        "log_commit": 1,
        **StateCounts(inserted=2).as_dict(),
    }


def test_what_it_did_may_be_said_later() -> None:
    counted = COMMIT.counted(StateCounts(stale=1))
    assert counted.counts == StateCounts(stale=1)
    assert counted.counted(COMMIT.counts) == COMMIT


@pytest.mark.parametrize("text", [None, "", "{", "[]", "7", "null", "[" * 100_000, "{}"])
def test_other_texts_say_nothing(text: str | None) -> None:
    assert StateCommit.read(text) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"format_version": 2},
        {"another": 1},
        {"stale": -1},
        {"stale": None},
        {"truncation": {"topic_id": "A"}},
        {"truncation": 7},
    ],
)
def test_a_commit_of_another_format_says_nothing(changed: dict[str, Any]) -> None:
    assert StateCommit.read(json.dumps({**json.loads(COMMIT.text), **changed})) is None


@pytest.mark.parametrize("name", json.loads(COMMIT.text))
def test_a_commit_that_lacks_something_says_nothing(name: str) -> None:
    told = json.loads(COMMIT.text)
    del told[name]
    assert StateCommit.read(json.dumps(told)) is None
