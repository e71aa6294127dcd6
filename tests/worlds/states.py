"""A pipeline with a state table: what goes in, what the table is, and what the log says it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.protocol.refresh.making import Followed

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

SCHEMA = "id BIGINT, v STRING, seq BIGINT, gone BOOLEAN"
STATE: Mapping[str, Any] = {"key": ["id"], "deleted_when": "gone"}
Row = Mapping[str, Any]


def keyed(topic: Topic, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline of two partitions with a state table by `id`; it has read nothing yet.

    In this process both tables are written without Spark.
    """
    made = {"format": {"type": "json", "schema": SCHEMA}, "state": dict(STATE)}
    trips = pipeline(topic(2), **{**made, **keys})
    trips.written = True
    return trips


def put(trips: Installed, key: int, v: str = "", partition: int = 0, **more: Any) -> None:
    """Produce a row of a key."""
    sent = json.dumps({"id": key, "v": v, **more}).encode()
    produce(trips.bootstrap, trips.topics[0], [sent], partition)


def refreshed(trips: Installed) -> list[Followed]:
    return trips.open().refresh()


def state_table(trips: Installed) -> Path:
    return trips.warehouse / f"{trips.name}__state"


def state_rows(trips: Installed) -> dict[Any, Row]:
    """The state table by key; a key is there once."""
    found = trips.rows(state_table(trips).name)
    rows: dict[Any, Row] = {row["id"]: row for row in found}
    assert len(rows) == len(found)
    return rows


def is_right(trips: Installed, **said: Any) -> bool:
    """Whether the oracle finds the state table right; AssertionError with what is wrong."""
    trips.judge_state(deletes=lambda row: row["gone"] is True, **said)
    return True
