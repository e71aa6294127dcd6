"""Pipelines of Avro topics behind a schema registry: from records to rows, whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sluice.errors import RegistryUnavailable, UnknownSchema

from tests.production.worlds.avro_topic import record, reference, send
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

AVRO = {"type": "avro", "registry": "schema_registry_default"}
FIRST = record(("id", "long"), ("city", ["null", "string"], None))
MORE = record(("id", "long"), ("city", ["null", "string"], None), ("price", "double", 0.0))
WIDER = record(("id", "long"), ("city", ["null", "string"], None), ("price", "double", 0.0))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry


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
    running: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(running, topic, pipeline, evolution="add_columns")
    first = written(running, trips, FIRST, 1, 2)
    more = written(running, trips, MORE, 3)
    written(running, trips, FIRST, 4)
    trips.run()
    found = {row["id"]: row["price"] for row in trips.rows()}
    assert found == {1: 0.0, 2: 0.0, 3: 1.5, 4: 0.0}
    decode = reference(MORE, {first: FIRST, more: MORE})
    trips.judge(fmt="avro", decode=decode)


def test_a_new_field_becomes_a_column_in_the_commit_of_its_batch(
    running: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(running, topic, pipeline, evolution="add_columns")
    first = written(running, trips, FIRST, 1)
    trips.run()
    more = written(running, trips, MORE, 2)
    told = trips.sluice("plan").stdout
    assert "the table gets a column price DOUBLE" in " ".join(told.split())
    trips.run()
    assert {row["id"]: row["price"] for row in trips.rows()} == {1: None, 2: 1.5}
    writers = {first: FIRST, more: MORE}
    trips.judge(fmt="avro", decode=reference(MORE, writers), altered=frozenset({0}))


def test_strict_keeps_the_columns_and_says_what_is_new(
    running: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(running, topic, pipeline)
    first = written(running, trips, FIRST, 1)
    trips.run()
    more = written(running, trips, MORE, 2)
    told = " ".join(trips.sluice("plan").stdout.split())
    assert "evolution is strict, and it adds price DOUBLE" in told
    trips.run()
    assert [set(row) & {"id", "price"} for row in trips.rows()] == [{"id"}, {"id"}]
    trips.judge(fmt="avro", decode=reference(FIRST, {first: FIRST, more: MORE}))


def test_an_unknown_number_is_quarantined_and_stops_nothing(
    running: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(running, topic, pipeline, quarantine={"max_ratio": 1.0})
    first = written(running, trips, FIRST, 1)
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
    again = trips.process("backfill", "--offsets", f"{trips.topics[0]}[0]:0..2", "--execute")
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
    running: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(running, topic, pipeline)
    produce(trips.bootstrap, trips.topics[0], [b"x"])
    with pytest.raises(UnknownSchema, match=f"subject '{trips.topics[0]}-value'"):
        trips.plan()
    assert not trips.data.exists()
