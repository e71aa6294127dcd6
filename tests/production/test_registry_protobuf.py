"""Pipelines of Protobuf topics behind a schema registry, written by Confluent's own serialiser."""

from __future__ import annotations

import struct
from datetime import date
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message import DecodeError

from tests.oracle.json_fields import Decode
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.protobuf_schemas import descriptor_set, message_class
from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

HEAD = 'syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto"; '
FIRST = HEAD + "message Head { int32 i = 1; } message Order { int64 id = 1; string city = 2; }"
MORE = (
    HEAD + "message Head { int32 i = 1; } message Order { int64 id = 1; string city = 2;"
    " optional double price = 3; google.protobuf.Timestamp at = 4; }"
)
FORMAT = {
    "type": "protobuf",
    "registry": "schema_registry_default",
    "record": "shop.Order",
}


def orders(registry: SchemaRegistry, topic: Topic, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline of Protobuf records; nothing is written yet."""
    keys = {"format": FORMAT, "quarantine": {"max_ratio": 1.0}, **keys}
    trips = pipeline(topic(), **keys)
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    return trips


def serialised(registry: SchemaRegistry, topic: str, source: str, **fields: Any) -> bytes:
    """A record as the serialiser writes it; it registers the descriptor in base64."""
    message = message_class(source, "shop.Order")
    conf = {"use.deprecated.format": False}
    serialise = ProtobufSerializer(message, registry.client(), conf)
    found = serialise(message(**fields), SerializationContext(topic, MessageField.VALUE))
    assert found is not None
    return bytes(found)


def reference(known: set[bytes]) -> Decode:
    """For the oracle: a value as the newest message has it; None where it cannot be read."""
    message = message_class(MORE, "shop.Order")

    def decode(value: bytes) -> dict[str, Any] | None:
        if value[:7] not in known:
            return None
        try:
            found = message.FromString(value[7:])
        except DecodeError:
            return None
        return {
            "id": found.id,
            "city": found.city,
            "price": found.price if found.HasField("price") else None,
            "at": found.at.ToDatetime() if found.HasField("at") else None,
        }

    return decode


def test_several_writers_are_read_as_one_message(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    trips = orders(schema_registry, topic, pipeline, evolution="add_columns")
    (name,) = trips.topics
    first = serialised(schema_registry, name, FIRST, id=1, city="Bonn")
    assert first[5:7] == b"\x02\x02"
    produce(trips.bootstrap, name, [first])
    trips.run()
    more = serialised(schema_registry, name, MORE, id=2, price=1.5, at={"seconds": 1})
    wrong = first[:5] + b"\0" + first[7:]
    unknown = struct.pack(">bI", 0, 999_999) + first[5:]
    produce(trips.bootstrap, name, [more, first, None, wrong, unknown, b"\x08\x01", more[:-1]])
    trips.run()
    found = {row["_offset"]: (row["id"], row["city"], row["price"]) for row in trips.rows()}
    assert found == {
        0: (1, "Bonn", None),
        1: (2, "", 1.5),
        2: (1, "Bonn", None),
        3: (None, None, None),
    }
    errors = {row["_offset"]: row["error"] for row in trips.quarantined()}
    assert sorted(errors) == [4, 5, 6, 7]
    assert "expected the message shop.Order, found shop.Head at the message index 0" in errors[4]
    assert errors[7].startswith("not one shop.Order message: While parsing a protocol message")
    trips.judge(fmt="protobuf", decode=reference({first[:7], more[:7]}))


def test_a_source_is_a_schema_as_well(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    """As Confluent's serialiser for Java registers it."""
    trips = orders(schema_registry, topic, pipeline)
    (name,) = trips.topics
    number = schema_registry.client().register_schema(f"{name}-value", Schema(MORE, "PROTOBUF"))
    body = message_class(MORE, "shop.Order")(id=3, price=0).SerializeToString()
    produce(trips.bootstrap, name, [struct.pack(">bI", 0, number) + b"\x02\x02" + body])
    trips.run()
    (row,) = trips.rows()
    assert (row["id"], row["price"], row["at"]) == (3, 0.0, None)


def test_what_every_registry_knows_needs_no_reference(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    """As Connect's converter registers a decimal and a date."""
    source = (
        'syntax = "proto3"; package shop; import "confluent/meta.proto";'
        ' import "confluent/type/decimal.proto"; import "google/type/date.proto"; message Order {'
        " int64 id = 1; confluent.type.Decimal amount = 2; google.type.Date day = 3; }"
    )
    trips = orders(schema_registry, topic, pipeline)
    (name,) = trips.topics
    number = schema_registry.client().register_schema(f"{name}-value", Schema(source, "PROTOBUF"))
    amount = {"value": b"\x04\xe2", "precision": 4, "scale": 2}
    made = message_class(source, "shop.Order")(id=1, amount=amount)
    made.day.year, made.day.month, made.day.day = 2023, 11, 14
    header = struct.pack(">bI", 0, number) + b"\0"
    produce(trips.bootstrap, name, [header + made.SerializeToString()])
    trips.run()
    (row,) = trips.rows()
    assert (row["id"], row["amount"], row["day"]) == (1, "12.50", date(2023, 11, 14))


def test_a_schema_file_is_read_for_a_source_that_protoc_refuses(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    """Two enums have one name for a number each: to protoc they are twice in one scope."""
    refused = MORE + " enum A { NONE = 0; } enum B { NONE = 0; }"
    keys = {**FORMAT, "schema_file": "orders.desc"}
    trips = orders(schema_registry, topic, pipeline, format=keys)
    (trips.spec_file.parent / "orders.desc").write_bytes(descriptor_set({"main.proto": MORE}))
    (name,) = trips.topics
    number = schema_registry.client().register_schema(f"{name}-value", Schema(refused, "PROTOBUF"))
    body = message_class(MORE, "shop.Order")(id=3, price=0).SerializeToString()
    header = struct.pack(">bI", 0, number)
    produce(trips.bootstrap, name, [header + b"\x02\x02" + body, header + b"\0" + body])
    trips.run()
    (row,) = trips.rows()
    assert (row["id"], row["price"], row["at"]) == (3, 0.0, None)
    (error,) = [each["error"] for each in trips.quarantined()]
    assert "expected the message shop.Order, found shop.Head at the message index 0" in error
