"""A batch's commit tells which batch it is, and where each of its ranges ended."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.quarantine_tickets import NOTHING_ASIDE, JudgedRecords, SetAside
from sluice.tables.based_on import BasedOn
from sluice.tables.batch_commits import (
    aside_of,
    attempt_of,
    batch_metadata,
    batch_of,
    fingerprints_of,
    judged_metadata,
    judged_of,
    ranges_of,
)

from tests.unit.builders import TOPIC_ID, batch, offsets, partition, planned

BATCH = batch(offsets(10, 40), offsets(5, 5, 1), number=7)
PRINTS = {partition(0): "c0ffee", partition(1): None}


def commit(text: str) -> dict[str, Any]:
    return {"userMetadata": text, "operation": "WRITE"}


def test_a_commit_tells_its_batch_its_attempt_and_the_fingerprints_that_are_known() -> None:
    found = commit(batch_metadata(BATCH, "one", PRINTS))
    assert batch_of(found) == ("sluice:flights:forward:1", 7)
    assert attempt_of(found) == "one"
    assert fingerprints_of(found) == {partition(0): "c0ffee"}


def test_a_commit_tells_on_which_version_its_write_was_begun_if_that_is_known() -> None:
    """Also to the log stores: jobs/jvm/commit/BasedOn.scala reads it there."""
    text = batch_metadata(BATCH, "one", based_on=BasedOn(7, 2**63 - 1))
    assert json.loads(text)["sluice"]["based_on"] == {"version": 7, "digest": 2**63 - 1}
    assert "based_on" not in json.loads(batch_metadata(BATCH, "one"))["sluice"]


def test_a_commit_that_gives_a_batch_up_tells_what_was_judged() -> None:
    found = commit(judged_metadata(BATCH, JudgedRecords(9, 4)))
    assert judged_of(found) == JudgedRecords(9, 4)
    assert (batch_of(found), attempt_of(found)) == (("sluice:flights:forward:1", 7), None)
    assert judged_of(commit(batch_metadata(BATCH, "one"))) is None


def test_neighbouring_partitions_of_a_topic_share_an_entry() -> None:
    anew = planned(offsets(0, 9, 2), topic_id="new")
    whole = batch(*BATCH.ranges, anew, offsets(1, 2, 4), offsets(3, 5, 5, "delays"))
    told = json.loads(batch_metadata(whole, "one", PRINTS))["sluice"]
    assert told["version"] == 2
    assert [
        (each["topic"], each["topic_id"], each["first_partition"]) for each in told["ranges"]
    ] == [
        ("delays", TOPIC_ID, 5),
        ("flights", TOPIC_ID, 0),
        ("flights", "new", 2),
        ("flights", TOPIC_ID, 4),
    ]
    assert told["ranges"][1] == {
        "topic": "flights",
        "topic_id": TOPIC_ID,
        "first_partition": 0,
        "starts": [10, 5],
        "spans": [30, 0],
        "fingerprints": "c0ffee -",
    }


places = st.dictionaries(
    st.tuples(st.sampled_from(["flights", "delays"]), st.integers(0, 9)),
    st.tuples(
        st.integers(0, 2**40),
        st.integers(0, 9),
        st.sampled_from([None, "c0ffee", "-_-_-_", "a-b-c-"]),
    ),
    min_size=1,
)


@given(places)
def test_ranges_and_fingerprints_are_read_back(places: dict[Any, Any]) -> None:
    ranges = [
        offsets(start, start + span, number, topic)
        for (topic, number), (start, span, _) in places.items()
    ]
    prints = {partition(number, topic): word for (topic, number), (_, _, word) in places.items()}
    found = commit(batch_metadata(batch(*ranges), "one", prints))
    assert ranges_of(found) == sorted(ranges)
    assert fingerprints_of(found) == {at: word for at, word in prints.items() if word}


def test_ten_thousand_partitions_fit_into_a_commit() -> None:
    """Of a busy topic: ten digits for each offset, five for what is read of it."""
    numbers = range(10_000)
    ranges = [offsets(9_123_456_789 + n, 9_123_506_789 + 2 * n, n) for n in numbers]
    text = batch_metadata(batch(*ranges), "f" * 32, {partition(n): "a1B2c3" for n in numbers})
    assert len(text) < 256_000
    assert ranges_of(commit(text)) == ranges


FIRST_VERSION = (
    '{"sluice": {"version": 1, "app_id": "sluice:flights:forward:1", "number": 1, "ranges": [{}]}}'
)


@pytest.mark.parametrize(
    "text",
    ["", "by hand", "[]", '{"sluice": 1}', '{"other": {}}', FIRST_VERSION, "[" * 100_000],
    ids=lambda text: text[:20],
)
def test_what_others_wrote_tells_nothing(text: str) -> None:
    assert batch_of(commit(text)) is None
    assert attempt_of(commit(text)) is None
    assert fingerprints_of(commit(text)) == {}


def test_a_commit_tells_what_of_its_batch_is_in_quarantine() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
    for aside in (NOTHING_ASIDE, SetAside(3, at)):
        assert aside_of(commit(batch_metadata(BATCH, "one", aside=aside))) == aside
    assert aside_of(commit(batch_metadata(BATCH, "one"))) is None, "as before it was recorded"
