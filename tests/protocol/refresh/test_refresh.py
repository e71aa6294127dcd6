"""Refreshing on Spark: the state is the newest row of each key, whatever the log went through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]
SCHEMA = "id BIGINT, v STRING, seq BIGINT"


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    trips = pipeline(
        topic(2),
        format={"type": "json", "schema": SCHEMA},
        key_format={"type": "json", "schema": "id BIGINT"},
        state={"key": ["_key_id"]},
    )
    trips.write_spec()
    return trips


def put(trips: Installed, key: int, value: dict[str, Any] | None, partition: int = 0) -> None:
    sent = None if value is None else json.dumps({"id": key, **value}).encode()
    produce(
        trips.bootstrap, trips.topics[0], [sent], partition, key=json.dumps({"id": key}).encode()
    )


def state(trips: Installed) -> dict[int, tuple[Any, bool]]:
    rows = (
        trips.session().read.format("delta").load(str(trips.warehouse / "trips__state")).collect()
    )
    assert len({row["_key_id"] for row in rows}) == len(rows)
    return {row["_key_id"]: (row["v"], row["_deleted"]) for row in rows}


def test_the_newest_row_of_each_key_is_there_and_deleted_keys_stay(trips: Installed) -> None:
    put(trips, 1, {"v": "a"})
    put(trips, 1, {"v": "b"})
    put(trips, 2, {"v": "c"}, partition=1)
    trips.run()
    trips.open().refresh()
    assert state(trips) == {1: ("b", False), 2: ("c", False)}
    put(trips, 1, None)
    put(trips, 3, {"v": "d"})
    trips.run()
    (followed,) = trips.open().refresh()
    assert (followed.counts.inserted, followed.counts.deleted) == (1, 1)
    assert state(trips) == {1: (None, True), 2: ("c", False), 3: ("d", False)}
    assert trips.open().refresh() == []
