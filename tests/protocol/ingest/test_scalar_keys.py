"""Keys that are one number or text are a column of their own; other bytes put the record aside."""

from __future__ import annotations

from operator import itemgetter

import pytest
from confluent_kafka import Producer

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import send

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROW = b'{"id": 1}'
JSON = {"type": "json", "schema": "id BIGINT"}


def test_the_keys_of_kafkas_long_serializer_land(topic: Topic, pipeline: Pipelines) -> None:
    keys = {"derived": {"_above": "_key_value > 0"}, "quarantine": {"max_ratio": 1}}
    trips = pipeline(topic(), format=JSON, key_format="long", **keys)
    producer = Producer({"bootstrap.servers": trips.bootstrap, "log_level": 0})
    forty_two, least = b"\0\0\0\0\0\0\0*", b"\x80" + b"\0" * 7
    for key, value in ((forty_two, ROW), (least, None), (None, ROW)):
        send(producer, trips.topics[0], [value], key=key)
    trips.run()
    rows = sorted(trips.rows(), key=itemgetter("_offset"))
    assert [(row["_key"], row["_key_value"], row["_above"]) for row in rows] == [
        (forty_two, 42, True),
        (least, -(2**63), False),
        (None, None, None),
    ]
    assert [row["_tombstone"] for row in rows] == [False, True, False]
    assert trips.judge().facts.rows == 3

    send(producer, trips.topics[0], [ROW], key=b"\0\0\0*!")
    trips.run()
    (aside,) = trips.quarantined()
    assert (aside["_key"], aside["value"]) == (b"\0\0\0*!", ROW)
    assert aside["error"] == "key: expected 8 bytes, found 5"
    assert len(trips.rows()) == 3
