"""Fields that no column declares are rescued where the spec asks for it: in every write mode."""

from __future__ import annotations

import json

import pytest
from deltalake import DeltaTable
from sluice.operations.backfill.selection import offset_ranges

from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

FORMAT = {"type": "json", "schema": "id BIGINT"}
FEW = {"max_ratio": 0.5}
VALUES = [
    b'{"id": 1}',
    b'{"id": 2, "price": 1.10, "legs": [{"to": "JFK"}]}',
    None,
    b'{"id": "no number", "price": 2}',
]


def test_a_table_gets_the_column_when_the_spec_asks_for_it(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(1, retention_ms=-1), format=FORMAT, quarantine=FEW)
    name = trips.topics[0]
    produce(trips.bootstrap, name, VALUES)
    trips.run()
    trips.write_spec(rescue=True)
    produce(trips.bootstrap, name, VALUES)
    trips.run()
    rescued = {row["_offset"]: row["_rescued"] for row in trips.rows()}
    new = '{"price":1.10,"legs":[{"to":"JFK"}]}'
    assert rescued == {0: None, 1: None, 2: None, 4: None, 5: new, 6: None}
    assert {row["_offset"] for row in trips.quarantined()} == {3, 7}
    asked = offset_ranges([f"{name}[0] [0, 4)"])
    trips.ingest(trips.open().backfill(asked, "test", "test").work)
    trips.settle()
    assert {row["_offset"]: row["_rescued"] for row in trips.rows()}[1] == new
    assert trips.judge().facts.rows == 6


def test_it_stands_last_in_a_new_table(topic: Topic, pipeline: Pipelines) -> None:
    key = {"type": "json", "schema": "id STRING"}
    keys = {"quarantine": {"max_ratio": 1}, "key_format": key, "rescue": True}
    trips = pipeline(topic(1, retention_ms=-1), format=FORMAT, **keys)
    produce(trips.bootstrap, trips.topics[0], VALUES, key=json.dumps({"id": "k"}).encode())
    trips.run()
    names = [each.name for each in DeltaTable(trips.data).schema().fields]
    assert names[-3:] == ["_batch", "_key_id", "_rescued"]
    assert [row["_rescued"] for row in trips.rows() if row["id"] == 2] == [
        '{"price":1.10,"legs":[{"to":"JFK"}]}'
    ]
