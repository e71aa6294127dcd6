"""Pipelines of Avro topics behind a schema registry: from records to rows, whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from sluice.errors import RegistryUnavailable, UnknownSchema

from tests.production.worlds.avro_topic import record, reference, send
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

AVRO = {"type": "avro", "registry": "schema_registry_default"}
FIRST = record(("id", "long"), ("city", ["null", "string"], None))
MORE = record(
    ("id", "long"), ("city", ["null", "string"], None), ("price", ["null", "double"], None)
)


@pytest.fixture
def own_registry(tmp_path: Path) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path / "registry") as registry:
        yield registry


def orders(registry: SchemaRegistry, topic: Topic, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline of Avro records; nothing is written yet."""
    trips = pipeline(topic(), format=AVRO, **keys)
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    return trips


def written(registry: SchemaRegistry, trips: Installed, schema: Any, *ids: int) -> int:
    """Write rows with a schema. Returns the schema's number."""
    rows = [
        {"id": each, "city": "Bonn", **({"price": 1.5} if "price" in json.dumps(schema) else {})}
        for each in ids
    ]
    values = send(registry, trips.bootstrap, trips.topics[0], schema, rows)
    return int.from_bytes(values[0][1:5], "big")


def test_several_writers_are_read_as_one_schema(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline, evolution="add_columns")
    first = written(schema_registry, trips, FIRST, 1, 2)
    more = written(schema_registry, trips, MORE, 3)
    written(schema_registry, trips, FIRST, 4)
    trips.run()
    found = {row["id"]: row["price"] for row in trips.rows()}
    assert found == {1: None, 2: None, 3: 1.5, 4: None}
    decode = reference(MORE, {first: FIRST, more: MORE})
    trips.judge(fmt="avro", decode=decode)


def test_a_new_field_becomes_a_column_in_the_commit_of_its_batch(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline, evolution="add_columns")
    first = written(schema_registry, trips, FIRST, 1)
    trips.run()
    more = written(schema_registry, trips, MORE, 2)
    told = trips.sluice("plan").stdout
    assert "the table gets a column price DOUBLE" in " ".join(told.split())
    trips.run()
    assert {row["id"]: row["price"] for row in trips.rows()} == {1: None, 2: 1.5}
    writers = {first: FIRST, more: MORE}
    trips.judge(fmt="avro", decode=reference(MORE, writers))


def test_strict_keeps_the_columns_and_says_what_is_new(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline)
    first = written(schema_registry, trips, FIRST, 1)
    trips.run()
    more = written(schema_registry, trips, MORE, 2)
    told = " ".join(trips.sluice("plan").stdout.split())
    assert "evolution is strict, and it adds price DOUBLE" in told
    trips.run()
    assert [set(row) & {"id", "price"} for row in trips.rows()] == [{"id"}, {"id"}]
    trips.judge(fmt="avro", decode=reference(FIRST, {first: FIRST, more: MORE}))


def test_an_unknown_number_is_quarantined_and_stops_nothing(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline, quarantine={"max_ratio": 1.0})
    first = written(schema_registry, trips, FIRST, 1)
    produce(trips.bootstrap, trips.topics[0], [b"\0\0\1\0\0\2", b"\0\0", b"", b"{}", None])
    trips.run()
    assert sum(not row["_tombstone"] for row in trips.rows()) == 1
    trips.judge(fmt="avro", decode=reference(FIRST, {first: FIRST}))


def test_what_was_learnt_is_enough_when_the_registry_is_gone(
    own_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(own_registry, topic, pipeline)
    first = written(own_registry, trips, FIRST, 1)
    trips.run()
    written(own_registry, trips, FIRST, 2)
    own_registry.kill()
    trips.run()
    again = trips.process("reprocess", "--range", f"{trips.topics[0]}[0] [0, 2)")
    assert again.returncode == 0, again.stderr
    assert {row["id"] for row in trips.rows()} == {1, 2}
    trips.judge(fmt="avro", decode=reference(FIRST, {first: FIRST}))


def test_a_registry_that_is_down_fails_the_batch_that_needs_it_and_no_other(
    own_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(own_registry, topic, pipeline)
    first = written(own_registry, trips, FIRST, 1)
    trips.run()
    more = written(own_registry, trips, MORE, 2)
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = json.dumps(
        {"conn_type": "http", "extra": {"url": "http://127.0.0.1:1"}}
    )
    work = trips.plan()
    with pytest.raises(RegistryUnavailable, match="run again when the registry answers"):
        trips.ingest(work)
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = own_registry.connection()
    trips.run()
    assert {row["id"] for row in trips.rows()} == {1, 2}
    trips.judge(fmt="avro", decode=reference(FIRST, {first: FIRST, more: MORE}))


def test_a_subject_that_nobody_has_registered_is_named(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline)
    produce(trips.bootstrap, trips.topics[0], [b"x"])
    with pytest.raises(UnknownSchema, match=f"subject '{trips.topics[0]}-value'"):
        trips.plan()
    assert not trips.data.exists()


@pytest.mark.parametrize("point", ["readers kept", "commit landed"])
def test_a_run_that_is_killed_while_a_column_comes_loses_nothing(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines, point: str
) -> None:
    trips = orders(schema_registry, topic, pipeline, evolution="add_columns")
    first = written(schema_registry, trips, FIRST, 1)
    trips.run()
    more = written(schema_registry, trips, MORE, 2)
    died = trips.process("run", SLUICE_TEST="1", SLUICE_FAILPOINT=f"{point}: kill")
    assert died.returncode == -9
    trips.run()
    assert {row["id"]: row["price"] for row in trips.rows()} == {1: None, 2: 1.5}
    trips.judge(fmt="avro", decode=reference(MORE, {first: FIRST, more: MORE}))


def test_a_column_comes_with_a_schema_that_was_registered_after_the_plan(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline, evolution="add_columns")
    first = written(schema_registry, trips, FIRST, 1)
    trips.run()
    written(schema_registry, trips, FIRST, 2)
    # The producer has registered its schema, and its records are in the plan, but not the subject.
    subject = f"{trips.topics[0]}-value"
    more = written(schema_registry, trips, MORE, 3)
    schema_registry.client().delete_version(subject, 2)
    trips.run()
    assert {row["id"]: row.get("price") for row in trips.rows()} == {1: None, 2: None, 3: 1.5}
    trips.judge(fmt="avro", decode=reference(MORE, {first: FIRST, more: MORE}))


def test_a_wider_type_widens_the_column(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    narrow, wide = (
        record(("id", "int"), ("city", "string")),
        record(("id", "long"), ("city", "string")),
    )
    trips = orders(schema_registry, topic, pipeline, evolution="widen")
    first = written(schema_registry, trips, narrow, 1)
    trips.run()
    second = written(schema_registry, trips, wide, 2**40)
    told = " ".join(trips.sluice("plan").stdout.split())
    assert "the table's column id becomes BIGINT, from INT" in told
    trips.run()
    # With Spark: deltalake's own reader does not know type widening.
    rows = trips.session().read.format("delta").load(str(trips.data)).collect()
    assert {row["id"] for row in rows} == {1, 2**40}
    trips.judge(fmt="avro", decode=reference(wide, {first: narrow, second: wide}))


def test_a_schema_that_clashes_quarantines_its_records(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(
        schema_registry, topic, pipeline, evolution="widen", quarantine={"max_ratio": 1.0}
    )
    first = written(schema_registry, trips, FIRST, 1)
    trips.run()
    clash = record(("id", {"type": "array", "items": "int"}), ("city", ["null", "string"], None))
    values = send(
        schema_registry, trips.bootstrap, trips.topics[0], clash, [{"id": [1], "city": None}]
    )
    number = int.from_bytes(values[0][1:5], "big")
    trips.run()
    (aside,) = trips.quarantined()
    assert f"{number}" in aside["error"]
    assert "id" in aside["error"]
    trips.judge(fmt="avro", decode=reference(FIRST, {first: FIRST, number: clash}))


def test_keys_are_decoded_beside_their_bytes(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline, key_format=AVRO, quarantine={"max_ratio": 1.0})
    (where,) = trips.topics
    key = json.dumps(record(("shop", "string"), name="Key"))
    context = SerializationContext(where, MessageField.KEY)
    shop = AvroSerializer(schema_registry.client(), key)({"shop": "Köln"}, context)
    rows = [{"id": 1, "city": None}]
    for each in (shop, None, b"k"):
        values = send(schema_registry, trips.bootstrap, where, FIRST, rows, key=each)
    trips.run()
    found = [(row["_offset"], row["_key"], row["_key_shop"]) for row in trips.rows()]
    assert sorted(found) == [(0, shop, "Köln"), (1, None, None)]
    assert [each["error"][:5] for each in trips.quarantined()] == ["key: "]
    number = int.from_bytes(values[0][1:5], "big")
    decode = reference(FIRST, {number: FIRST})
    found_wrong = trips.verdict(fmt="avro", decode=decode).violations
    # The oracle judges values: that a key decides as well is what the rows above show.
    assert [each.invariant for each in found_wrong] == [5]
