"""A pipeline with a state table: records of an id, a value and a sequence, keyed by the id."""

from __future__ import annotations

import json
from typing import Any

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

SCHEMA = "id BIGINT, v STRING, seq BIGINT"


def keyed(topic: Topic, pipeline: Pipelines, **keys: Any) -> Installed:
    """The pipeline `trips` of a topic of two partitions, whose state has the record's key."""
    trips = pipeline(
        topic(2),
        format={"type": "json", "schema": SCHEMA},
        key_format={"type": "json", "schema": "id BIGINT"},
        **{"state": {"key": ["_key_id"]}, **keys},
    )
    trips.write_spec()
    return trips


def put(trips: Installed, key: int, value: dict[str, Any] | None, partition: int = 0) -> None:
    """Produce a record of a key; a tombstone for None."""
    sent = None if value is None else json.dumps({"id": key, **value}).encode()
    named = json.dumps({"id": key}).encode()
    produce(trips.bootstrap, trips.topics[0], [sent], partition, key=named)


def state_sql(trips: Installed, statement: str) -> None:
    """Run a statement on the table `{state}` or `{log}` in the tests' Spark, as others may."""
    named = {"log": trips.data, "state": trips.warehouse / f"{trips.name}__state"}
    tables = {name: f"delta.`{where}`" for name, where in named.items()}
    trips.session().sql(statement.format(**tables)).collect()


def state_rows(trips: Installed) -> dict[int, tuple[Any, bool]]:
    """Key → value and whether it is deleted."""
    rows = trips.rows(f"{trips.name}__state")
    return {row["_key_id"]: (row["v"], row["_deleted"]) for row in rows}
