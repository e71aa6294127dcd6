"""docs/state.md: its specs make of the records of their sources the state that it tells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.worlds.debezium_events import EVENTS, event
from tests.worlds.documented import page, questions
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce
from tests.worlds.state_page import excerpts, whole_specs

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ORDERS = whole_specs()["orders"]
Event = Mapping[str, Any]


def installed(name: str, topic: Topic, pipeline: Pipelines) -> Installed:
    """The page's spec, on a topic of the test's."""
    found = pipeline(topic(2))
    found.name = name
    found.write_spec(**{**whole_specs()[name], "topics": found.topics})
    return found


def send(to: Installed, key: object, *values: Event | bytes | None) -> None:
    named = None if key is None else json.dumps(key).encode()
    sent = [json.dumps(each).encode() if isinstance(each, Mapping) else each for each in values]
    produce(to.bootstrap, to.topics[0], sent, key=named)


def refreshed(of: Installed, spark: SparkSession, **said: Any) -> None:
    """The state table has followed, and has a name in Spark."""
    of.run()
    of.open().refresh()
    of.judge_state(**said)
    name = f"{of.name}__state"
    spark.read.format("delta").load(str(of.warehouse / name)).createOrReplaceTempView(name)


def rows(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def test_the_first_spec_and_its_query(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    planes = installed("planes", topic, pipeline)
    for tail, model, seats in [("N1", "A320", 180), ("N2", "B737", 149), ("N1", "A320", 182)]:
        send(planes, {"tailnum": tail}, {"tailnum": tail, "model": model, "seats": seats})
    send(planes, {"tailnum": "N2"}, None)
    refreshed(planes, spark)
    first, *_ = questions(page("state.md"))
    assert rows(spark, first["spark"]) == [("N1", "A320", 182)]
    assert rows(spark, "SELECT _key_tailnum FROM planes__state WHERE _deleted") == [("N2",)]


def change(op: str, key: int, lsn: int, **row: Any) -> Event:
    """An event of Debezium's about another row, and later."""
    text = event(op)
    assert text is not None
    found: dict[str, Any] = json.loads(text)
    for side in ("before", "after"):
        if found.get(side) is not None:
            found[side] |= {"id": key, **row}
    found["source"]["lsn"] = lsn
    return found


def test_the_spec_for_debezium_does_with_each_event_what_the_page_says(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    orders = installed("orders", topic, pipeline)
    send(orders, {"id": 1}, event("r"), event("u"), event("d"), event("tombstone"))
    send(orders, {"id": 2}, change("c", 2, 10, notes="long"))
    send(orders, {"id": 2}, change("u", 2, 11, notes=ORDERS["state"]["unavailable"]))
    # A changed primary key, and the delete of it whose tombstone was lost.
    send(orders, {"id": 3}, change("c", 3, 12), change("d", 3, 13), None)
    send(orders, {"id": 4}, change("c", 4, 14), change("d", 4, 15))
    # A tombstone alone is older than the events: it has no position.
    send(orders, {"id": 5}, change("c", 5, 16), None)
    # Sent again after a restart.
    send(orders, {"id": 6}, change("c", 6, 17, name="first"), change("u", 6, 18, name="second"))
    send(orders, {"id": 6}, change("c", 6, 17, name="first"))
    send(orders, None, event("m"))
    refreshed(orders, spark)
    found = rows(spark, "SELECT _key_id, name, notes, _deleted FROM orders__state")
    assert found == [
        (1, None, None, True),
        (2, "b", "long", False),
        (3, None, None, True),
        (4, None, None, True),
        (5, "a", None, False),
        (6, "second", None, False),
    ]
    send(orders, None, change("t", 0, 17))
    refreshed(orders, spark)
    assert rows(spark, "SELECT _key_id FROM orders__state WHERE NOT _deleted") == [(6,)]


# By the columns of the order: what the source says of changes, the oldest first.
SOURCES: dict[str, list[Event]] = {
    "lsn": [{"lsn": 9}, {"lsn": 10}],
    "commit_lsn, lsn": [
        json.loads(EVENTS["c"]["plain"])["source"],
        {"sequence": '["9","20"]', "lsn": 20},
        {"sequence": '["10","15"]', "lsn": 15},
        {"sequence": '["10","16"]', "lsn": 16},
    ],
    "binlog, binlog_pos, binlog_row": [
        {"file": "mysql-bin.999999", "pos": 5000, "row": 0},
        {"file": "mysql-bin.1000000", "pos": 900, "row": 0},
        {"file": "mysql-bin.1000000", "pos": 4000, "row": 9},
        {"file": "mysql-bin.1000000", "pos": 4000, "row": 10},
    ],
    "commit_lsn, change_lsn, event_serial_no": [
        {"commit_lsn": "00000027:00000758:0005", "change_lsn": "00000027:00000758:0003"},
        {"commit_lsn": "00000027:00000ac0:0002", "change_lsn": "00000027:00000758:0004"},
        {
            "commit_lsn": "00000027:00000ac0:0002",
            "change_lsn": "00000027:00000ac0:0001",
            "event_serial_no": 9,
        },
        {
            "commit_lsn": "00000027:00000ac0:0002",
            "change_lsn": "00000027:00000ac0:0001",
            "event_serial_no": 10,
        },
    ],
    "server, lsn": [
        {"lsn": 900, "at": "2026-11-29T11:59:59Z"},
        {"lsn": 5, "at": "2026-11-29T12:00:00Z"},
    ],
}


@pytest.mark.parametrize("keys", excerpts(), ids=lambda keys: ", ".join(keys["state"]["order_by"]))
def test_an_order_has_what_the_source_did_later_behind(
    keys: dict[str, Any], spark: SparkSession
) -> None:
    order = keys["state"]["order_by"]
    told = [
        (number, json.dumps(each), each.get("at"))
        for number, each in enumerate(SOURCES[", ".join(order)])
    ]
    frame = spark.createDataFrame(told[::-1], "number INT, _source STRING, at STRING")
    timed = frame.withColumn("_source_time", frame["at"].cast("timestamp"))
    derived = (f"{sql} AS {name}" for name, sql in keys["derived"].items())
    found = timed.selectExpr("number", *derived).orderBy(*order).collect()
    assert [row["number"] for row in found] == [number for number, *_ in told]


# What the page says of each mode of ExtractNewRecordState.
DELETES = {"rewrite": True, "rewrite-with-tombstone": True, "tombstone": True, "drop": False}


def test_unwrapped_rows_delete_as_far_as_their_mode_leaves_a_delete(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    items = installed("items", topic, pipeline)
    for key, mode in enumerate(DELETES):
        send(items, {"id": key}, event(f"unwrapped {mode} u"))
        if mode != "drop":
            send(items, {"id": key}, event(f"unwrapped {mode} d", wrapped=mode == "tombstone"))
    send(items, {"id": 1}, event("tombstone"))
    refreshed(items, spark, deletes=lambda row: row["__deleted"] == "true")
    found = rows(spark, "SELECT _key_id, _deleted FROM items__state")
    assert found == [*enumerate(DELETES.values())]
