"""Large records: ten megabytes are read, put aside and accounted for like any other record."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Producer

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.spark]


SIZE = 10_000_000
ALLOWED = 12_000_000
FORM = {"type": "json", "schema": "id BIGINT, text STRING"}


def large(number: int) -> bytes:
    return json.dumps({"id": number, "text": "x" * SIZE}).encode()


def test_ten_megabytes_between_small_ones(topic: Topic, pipeline: Pipelines) -> None:
    """Aborted, malformed, committed: with holes, the raw log is read over them, too."""
    trips = pipeline(topic(max_message_bytes=ALLOWED), format=FORM, quarantine={"max_ratio": 1.0})
    name = trips.topics[0]
    settings = {"bootstrap.servers": trips.bootstrap, "message.max.bytes": ALLOWED}
    plain = Producer({**settings, "log_level": 0})
    producer = transactional(trips.bootstrap, **{"message.max.bytes": ALLOWED})
    produce(trips.bootstrap, name, numbered(2))
    send(plain, name, [large(2), large(3)])
    trips.run()
    assert [len(row["text"] or "") for row in trips.rows()].count(SIZE) == 2
    send(producer, name, [large(4)])
    send(plain, name, [large(5)[:-1], large(6)])
    end(trips.bootstrap, name, producer, commit=False)
    produce(trips.bootstrap, name, numbered(1))
    trips.run()
    receipt = trips.offsets("committed")[-1]
    counted = [receipt[each] for each in ("records", "quarantined", "gap_aborted", "gap_control")]
    assert counted == [2, 1, 1, 1]
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (6, 1)
