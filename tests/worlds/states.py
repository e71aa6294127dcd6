"""A pipeline with a state table: what goes in, what the table is, and what the log says it is.

Its batches land without Spark; its state table is Spark's.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sluice.lake.opened import SparkEngine
from sluice.pipeline import Pipeline
from sluice.protocol.refresh.making import Followed

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

SCHEMA = "id BIGINT, v STRING, seq BIGINT, gone BOOLEAN"
STATE: Mapping[str, Any] = {"key": ["id"], "deleted_when": "gone"}
Row = Mapping[str, Any]


def keyed(topic: Topic, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline of two partitions with a state table by `id`; it has read nothing yet."""
    made = {"format": {"type": "json", "schema": SCHEMA}, "state": dict(STATE)}
    trips = pipeline(topic(2), **{**made, **keys})
    trips.written = True
    return trips


def put(trips: Installed, key: int, v: str = "", partition: int = 0, **more: Any) -> None:
    """Produce a row of a key."""
    sent = json.dumps({"id": key, "v": v, **more}).encode()
    produce(trips.bootstrap, trips.topics[0], [sent], partition)


def with_spark(trips: Installed) -> Pipeline:
    """The pipeline as it writes its state table."""
    engine = SparkEngine(lambda *_: contextlib.nullcontext(trips.session()))
    return replace(trips.open(), engine=engine)


def refreshed(trips: Installed) -> list[Followed]:
    return with_spark(trips).refresh()


def state_table(trips: Installed) -> Path:
    return trips.warehouse / f"{trips.name}__state"


def state_rows(trips: Installed) -> dict[Any, Row]:
    """The state table by key; a key is there once."""
    found = trips.session().read.format("delta").load(str(state_table(trips))).collect()
    rows = {row["id"]: row.asDict() for row in found}
    assert len(rows) == len(found)
    return rows


def is_right(trips: Installed) -> bool:
    """Whether the oracle finds the state table right."""
    return not trips.state_violations(deletes=lambda row: row["gone"] is True)
