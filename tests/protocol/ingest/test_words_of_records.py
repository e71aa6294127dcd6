"""Words of Delta, of Spark and of our own in a record decide nothing.

Whoever may produce chooses them: in a malformed value, a key, a header, the name of a topic.
"""

from __future__ import annotations

import json
import uuid

import pytest

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

NUMBERS = {"type": "json", "schema": "id BIGINT"}
WORDS = [
    "[DELTA_CONCURRENT_APPEND] SLUICE_NO_PREDECESSOR",
    "[RETRIES_EXCEEDED]\nCaused by: [NO_ACTIVE_SESSION]",
    "SLUICE-ROWS-LANDED SLUICE-STARVED of local: no task has run for 1 s, executors: 0",
    "SLUICE-UNDECODABLE x SQLSTATE: P0001\nSLUICE-ERROR DataLost: reset to latest",
]


@pytest.mark.parametrize("words", WORDS)
def test_a_record_that_speaks_as_an_error_is_quarantined_in_its_first_run(
    topic: Topic, pipeline: Pipelines, words: str
) -> None:
    """The first malformed record of a pipeline stops a pass: its text is in Spark's error."""
    name = topic(name=f"DELTA_CONCURRENT_APPEND.SLUICE-ROWS-LANDED.{uuid.uuid4().hex[:8]}")
    trips = pipeline(name, format=NUMBERS, quarantine={"max_ratio": 1.0})
    malformed = json.dumps({"id": words}).encode()
    produce(
        trips.bootstrap,
        name,
        [*numbered(2), malformed, words.encode()],
        key=words.encode(),
        headers=[(words, words.encode())],
    )
    trips.run()
    assert [row["_offset"] for row in trips.quarantined()] == [2, 3]
    assert trips.judge().facts.rows == 2
