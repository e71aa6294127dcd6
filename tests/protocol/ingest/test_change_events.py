"""Debezium's change events, with all that runs do: evolution, a reset, a replay of quarantine."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sluice.operations.reset.targets import to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SOURCE = {"connector": "mysql", "ts_ms": 1_700_000_000_123, "pos": 4}
AT = datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC)
FORMAT = {"type": "json", "envelope": "debezium", "schema": "id BIGINT, name STRING"}
KEYS: dict[str, Any] = {
    "format": FORMAT,
    "key_format": {"type": "json", "schema": "id BIGINT"},
    "derived": {"_day": "CAST(_source_time AS DATE)"},
    "partition_by": ["_op"],
    "evolution": "add_columns",
    "quarantine": {"max_ratio": 1},
}


def as_columns(value: bytes) -> dict[str, Any] | None:
    """What the columns hold of these events, worked out by hand."""
    event = json.loads(value)
    event = event.get("payload", event)
    if "op" not in event:
        return None
    row = event["before" if event["op"] == "d" else "after"] or {}
    if event["op"] != "t" and not row.keys() & {"id", "name"}:
        return None
    source = json.dumps(event["source"], separators=(",", ":"))
    marks = {"_op": event["op"], "_source": source, "_source_time": AT.replace(tzinfo=None)}
    return {"id": row.get("id"), "name": row.get("name"), **marks}


def change(op: str, before: Any = None, after: Any = None, wrapped: bool = False) -> bytes:
    event = {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 1}
    return json.dumps(
        {"schema": {"type": "struct"}, "payload": event} if wrapped else event
    ).encode()


EVENTS = [
    change("c", None, {"id": 1, "name": "a", "email": "a@b.c"}),
    change("u", {"id": 1, "name": "a"}, {"id": 1, "name": "b", "email": "d@e.f"}, wrapped=True),
    change("d", {"id": 1}),
    None,
    change("t"),
    b'{"ts_ms": 1}',
    change("c", None, {"email": "j@k.l"}),
]


def exact(trips: Installed, rows: int) -> None:
    assert trips.judge(decode=as_columns).facts.rows == rows
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def send(trips: Installed, *values: bytes | None) -> None:
    produce(trips.bootstrap, trips.topics[0], values, key=b'{"id": 1}')


def by_offset(trips: Installed, *names: str) -> dict[int, tuple[Any, ...]]:
    return {row["_offset"]: tuple(row[name] for name in names) for row in trips.rows()}


def test_change_events_land_are_read_again_evolved_and_replayed(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(retention_ms=-1), **KEYS)
    send(trips, *EVENTS)
    trips.run()
    exact(trips, 5)
    rows = by_offset(trips, "id", "name", "_op", "_source_time", "_tombstone", "_key_id")
    assert rows == {
        0: (1, "a", "c", AT, False, 1),
        1: (1, "b", "u", AT, False, 1),
        2: (1, None, "d", AT, False, 1),
        3: (None, None, None, None, True, 1),
        4: (None, None, "t", AT, False, 1),
    }
    assert {each["_offset"]: each["error"] for each in trips.quarantined()} == {
        5: "expected a change event of Debezium, found a heartbeat",
        6: "after: expected one of the declared fields (id, name), found email",
    }
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    exact(trips, 5)
    # A newer schema has one more column: of new rows, and of what is replayed.
    trips.write_spec(format={**FORMAT, "schema": "id BIGINT, name STRING, email STRING"})
    send(trips, change("u", None, {"id": 1, "name": "c", "email": "g@h.i"}))
    trips.run()
    done = trips.process("quarantine replay", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    emails = by_offset(trips, "email", "_op")
    assert (emails[6], emails[7]) == (("j@k.l", "c"), ("g@h.i", "u"))
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_of_compressed_events_those_of_some_ops_land(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(
        topic(retention_ms=-1),
        format={**FORMAT, "compression": "gzip"},
        only={"where": "_op <> 'd'"},
        quarantine={"max_ratio": 1},
    )
    send(trips, *(each and gzip.compress(each, mtime=0) for each in EVENTS))
    trips.run()
    assert by_offset(trips, "_op") == {0: ("c",), 1: ("u",), 3: (None,), 4: ("t",)}
    # Other records than events have no op: whether they are wanted is unknown.
    assert {each["_offset"] for each in trips.quarantined()} == {5, 6}
    (row,) = trips.offsets("committed")
    names = ("records", "quarantined", "filtered", "gaps")
    assert tuple(row[each] for each in names) == (4, 2, 1, 0)
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_rows_that_connect_wrote_land_and_its_nulls_are_tombstones(
    topic: Topic, pipeline: Pipelines
) -> None:
    day = {"field": "born", "type": "int32", "name": "io.debezium.time.Date"}
    schema = {"type": "struct", "fields": [day]}
    trips = pipeline(
        topic(retention_ms=-1),
        format={"type": "json", "envelope": "connect", "schema": "id BIGINT, born DATE"},
        key_format={"type": "json", "schema": "id BIGINT"},
        only={"where": "id < 3"},
    )
    rows = [{"id": 1, "born": 19_675}, None, {"id": 3}]
    values = [json.dumps({"schema": schema, "payload": each}).encode() for each in rows]
    key = json.dumps({"schema": {"type": "struct"}, "payload": {"id": 1}}).encode()
    produce(trips.bootstrap, trips.topics[0], [*values, b"null", None], key=key)
    trips.run()
    none = (None, None, True, 1)
    assert by_offset(trips, "id", "born", "_tombstone", "_key_id") == {
        0: (1, datetime(2023, 11, 14, tzinfo=UTC).date(), False, 1),
        **dict.fromkeys((1, 3, 4), none),
    }
    assert trips.quarantined() == []
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
