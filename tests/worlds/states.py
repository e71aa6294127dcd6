"""A pipeline with a state table: what goes in, what the table is, and what the log says it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

SCHEMA = "id BIGINT, v STRING, seq BIGINT"
_LEFT_OUT = ("_batch", "_headers", "_deleted")
Row = Mapping[str, Any]


def keyed(topic: Topic, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline of two partitions whose records have a key `id`, and a state table by it."""
    made: dict[str, Any] = {
        "format": {"type": "json", "schema": SCHEMA},
        "key_format": {"type": "json", "schema": "id BIGINT"},
        "state": {"key": ["_key_id"]},
    }
    return pipeline(topic(2), **{**made, **keys})


def put(trips: Installed, key: int, value: Mapping[str, Any] | None, partition: int = 0) -> None:
    """Produce a row of a key; None is a tombstone."""
    sent = None if value is None else json.dumps({"id": key, **value}).encode()
    produce(
        trips.bootstrap, trips.topics[0], [sent], partition, key=json.dumps({"id": key}).encode()
    )


def state_table(trips: Installed) -> Path:
    return trips.warehouse / f"{trips.name}__state"


def state_rows(trips: Installed) -> dict[Any, Row]:
    """The state table by key; a key is there once."""
    found = trips.session().read.format("delta").load(str(state_table(trips))).collect()
    rows = {row["_key_id"]: row.asDict() for row in found}
    assert len(rows) == len(found)
    return rows


def newest_rows(trips: Installed) -> dict[Any, Row]:
    """What the rows of the data table say that the state is: by offset, tombstones delete."""
    newest: dict[Any, Row] = {}
    for row in sorted(trips.rows(), key=lambda row: row["_offset"]):
        kept = {name: value for name, value in row.items() if name not in _LEFT_OUT}
        newest[row["_key_id"]] = {**kept, "_deleted": row["_tombstone"]}
    return newest


def is_right(trips: Installed) -> bool:
    """Whether the state table is what the data table says, moments aside."""

    def told(rows: Mapping[Any, Row]) -> dict[Any, Row]:
        return {
            key: {name: value for name, value in row.items() if name != "_timestamp"}
            for key, row in rows.items()
        }

    return told(state_rows(trips)) == told(newest_rows(trips))
