"""While a batch is read, lines tell how many of its records; the last one, what was committed."""

from __future__ import annotations

import logging
import re

import pytest
from sluice.lake import reading_pace, reading_tasks

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

RECORDS = 40_000
PACE = re.compile(r"forward-1-1: ([\d,]+) records? read, of 40,000 offsets; [\d,]+ per second on ")
ALL_READ = re.compile(r"forward-1-1: all (40,000) offsets read and being written, \d+ s")
COMMITTED = re.compile(r"forward-1-1: committed, 40,000 rows in \d+\.\d s")


@pytest.mark.parametrize("partitions", [4, 1])
def test_a_batch_tells_its_records_while_it_is_read(
    topic: Topic,
    pipeline: Pipelines,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    partitions: int,
) -> None:
    """Several tasks read it, also where it has one partition."""
    caplog.set_level(logging.INFO, "sluice")
    trips = pipeline(topic(partitions))
    for partition in range(partitions):
        produce(trips.bootstrap, trips.topics[0], numbered(RECORDS // partitions), partition)
    # Often enough for a small batch.
    monkeypatch.setattr(reading_pace, "_SECONDS", 0.05)
    monkeypatch.setattr(reading_tasks, "LEAST", 1_000)
    trips.run()
    assert trips.judge().facts.rows == RECORDS

    said = [each.getMessage() for each in caplog.records]
    read = [
        int(found[1].replace(",", ""))
        for each in said
        if (found := PACE.search(each) or ALL_READ.search(each))
    ]
    assert read, said
    assert read == sorted(read)
    assert 0 < read[-1] <= RECORDS
    assert [each for each in said if COMMITTED.search(each)]
