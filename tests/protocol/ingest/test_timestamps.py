"""Timestamps: whatever clock a producer has, its records arrive with the time that they bear."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import numbered, produce, produce_at

pytestmark = [pytest.mark.integration, pytest.mark.spark]


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEAR_9999 = 253_402_300_799_999
NO_TIMESTAMP = -1
FOREVER = 2**63 - 1


@pytest.mark.parametrize(
    "form", [{"type": "raw"}, {"type": "json", "schema": "id BIGINT"}], ids=str
)
def test_the_first_the_last_and_no_time_at_all_in_any_order(
    topic: Topic, pipeline: Pipelines, form: dict[str, str]
) -> None:
    sent = [YEAR_9999, 0, 1_357_016_400_000, 1, NO_TIMESTAMP, YEAR_9999 - 1, 1_356_998_400_123]
    trips = pipeline(topic(retention_ms=-1, message_timestamp_after_max_ms=FOREVER), format=form)
    produce_at(trips.bootstrap, trips.topics[0], sent)
    trips.run()
    rows = sorted(trips.rows(), key=lambda row: row["_offset"])
    # Kafka's "no timestamp" is the number -1, and arrives as that.
    found = [(row["_timestamp"] - EPOCH) // timedelta(milliseconds=1) for row in rows]
    assert found == sent
    assert trips.judge().facts.rows == len(sent)


def test_a_topic_that_stamps_its_records_itself(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(message_timestamp_type="LogAppendTime"))
    produce(trips.bootstrap, trips.topics[0], numbered(3), timestamp=1_356_998_400_123)
    trips.run()
    assert all(row["_timestamp"].year > 2020 for row in trips.rows())
    assert trips.judge().facts.rows == 3


def test_a_time_beyond_year_9999_stops_neither_status_nor_run(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(retention_ms=-1, message_timestamp_after_max_ms=FOREVER))
    trips.run()
    produce_at(trips.bootstrap, trips.topics[0], [FOREVER // 1000])
    done = trips.sluice("status", "--json")
    assert done.returncode == 0, done.stderr
    assert ('"lag": 1' in done.stdout, '"lag_seconds": null' in done.stdout) == (True, True)
    trips.run()
    assert trips.judge().facts.rows == 1
