"""A pipeline of JSON records behind a schema registry: from Confluent's serialiser to rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import record_subject_name_strategy
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.decoding import reference_json
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JSON = {"type": "json", "registry": "schema_registry_default"}


def order(**properties: Any) -> str:
    kinds = {name: {"type": kind} for name, kind in {"id": "integer", **properties}.items()}
    return json.dumps({"title": "Order", "type": "object", "properties": kinds})


def reference(value: bytes) -> dict[str, Any] | None:
    """For the oracle: every known schema is read by the first one's columns."""
    if len(value) < 5 or value[0] != 0 or value[1:5] == b"\0\1\0\0":
        return None
    found = reference_json.decode(value[5:], "id BIGINT, city STRING")
    return found if isinstance(found, dict) else None


def test_several_writers_are_read_as_one_and_what_is_new_is_rescued(
    tmp_path: Path, topic: Topic, pipeline: Pipelines
) -> None:
    with SchemaRegistry(tmp_path / "registry") as registry:
        trips = pipeline(topic(), format=JSON, rescue=True, quarantine={"max_ratio": 0.5})
        trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
        name = trips.topics[0]
        context = SerializationContext(name, MessageField.VALUE)
        first = JSONSerializer(order(city="string"), registry.client())
        produce(trips.bootstrap, name, [first({"id": 1, "city": "Bonn"}, context)])
        trips.run()
        more = JSONSerializer(order(city="string", price="number"), registry.client())
        values = [more({"id": 2, "city": "Köln", "price": 1.5}, context)]
        values += [first({"id": 3}, context), None, b"{}", b"\0\0\1\0\0{}"]
        produce(trips.bootstrap, name, values)
        trips.run()
        rows = {row["id"]: row["_rescued"] for row in trips.rows() if row["id"]}
        assert rows == {1: None, 2: '{"price":1.5}', 3: None}
        assert trips.judge(fmt="json", decode=reference).facts.quarantined == 2


def test_a_schema_in_a_header_is_found(tmp_path: Path, topic: Topic, pipeline: Pipelines) -> None:
    with SchemaRegistry(tmp_path / "registry") as registry:
        trips = pipeline(topic(), format=JSON)
        trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
        name = trips.topics[0]
        context = SerializationContext(name, MessageField.VALUE)
        framed = JSONSerializer(order(), registry.client())({"id": 7}, context)
        headers = [("__value_schema_id", framed[:5])]
        produce(trips.bootstrap, name, [framed[5:]], headers=headers)
        trips.run()
        assert [row["id"] for row in trips.rows()] == [7]


def test_of_several_records_one_is_read_and_the_others_are_put_aside(
    tmp_path: Path, topic: Topic, pipeline: Pipelines
) -> None:
    """By their titles, which Confluent's serialisers take for the names of records."""
    named = {**JSON, "subject_strategy": "record", "record": "Order"}
    with SchemaRegistry(tmp_path / "registry") as registry:
        trips = pipeline(
            topic(), format=named, evolution="add_columns", quarantine={"max_ratio": 1.0}
        )
        trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
        name = trips.topics[0]
        context = SerializationContext(name, MessageField.VALUE)
        conf = {"subject.name.strategy": record_subject_name_strategy}
        refund = order(city="string").replace("Order", "Refund")
        values = [
            JSONSerializer(schema, registry.client(), conf=conf)({"id": number}, context)
            for number, schema in enumerate((order(), refund))
        ]
        produce(trips.bootstrap, name, values)
        trips.run()
        assert [(row["id"], "city" in row) for row in trips.rows()] == [(0, False)]
        (aside,) = trips.quarantined()
        number = int.from_bytes(values[1][1:5], "big")
        assert aside["error"] == f"schema {number}: expected record Order, found record Refund"
