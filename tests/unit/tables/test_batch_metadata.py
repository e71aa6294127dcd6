"""A batch's commit tells which batch it is, and where each of its ranges ended."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.tables.batch_commits import attempt_of, batch_metadata, batch_of, fingerprints_of

from tests.unit.builders import TOPIC_ID, batch, offsets, partition

BATCH = batch(offsets(10, 40), offsets(5, 5, 1), number=7)
PRINTS = {partition(0): "30:3:00c0ffee", partition(1): None}


def commit(text: str) -> dict[str, Any]:
    return {"userMetadata": text, "operation": "WRITE"}


def test_a_commit_tells_its_batch_its_attempt_and_the_fingerprints_that_are_known() -> None:
    found = commit(batch_metadata(BATCH, "one", PRINTS))
    assert batch_of(found) == ("sluice:flights:forward:1", 7)
    assert attempt_of(found) == "one"
    assert fingerprints_of(found) == {partition(0): "30:3:00c0ffee"}


def test_every_range_has_a_fingerprint_or_null() -> None:
    ranges = json.loads(batch_metadata(BATCH, "one", PRINTS))["sluice"]["ranges"]
    assert ranges[0] == {
        "topic": "flights",
        "topic_id": TOPIC_ID,
        "partition": 0,
        "start": 10,
        "end": 40,
        "fingerprint": "30:3:00c0ffee",
    }
    assert [each["fingerprint"] for each in ranges] == ["30:3:00c0ffee", None]


def test_a_commit_from_before_there_were_fingerprints_has_none() -> None:
    told = json.loads(batch_metadata(BATCH, "one"))
    for each in told["sluice"]["ranges"]:
        del each["fingerprint"]
    assert fingerprints_of(commit(json.dumps(told))) == {}


@pytest.mark.parametrize("text", ["", "by hand", "[]", '{"sluice": 1}', '{"other": {}}'])
def test_what_others_wrote_tells_nothing(text: str) -> None:
    assert batch_of(commit(text)) is None
    assert attempt_of(commit(text)) is None
    assert fingerprints_of(commit(text)) == {}
