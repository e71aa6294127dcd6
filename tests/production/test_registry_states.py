"""State tables of change events behind a schema registry: Avro and Protobuf, while they grow."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message import Message

from tests.production.worlds.avro_topic import record
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.protobuf_schemas import message_class
from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]
REGISTRY = "schema_registry_default"
UNAVAILABLE = "__debezium_unavailable_value"
PRICE = ("price", ["null", "double"], None)
Write = Callable[[Any, str, MessageField], bytes]


@dataclass(frozen=True)
class Kind:
    """A format, and how its serialiser writes the record's key and its value."""

    form: dict[str, Any]
    key_form: dict[str, Any]
    writer: Callable[[SchemaRegistry, bool, bool], Write]


def avro(registry: SchemaRegistry, of_key: bool, with_price: bool) -> Write:
    """As Connect's converter registers it."""
    row = record(
        *(("id", "long"), ("name", ["null", "string"], None)),
        *([PRICE] if with_price else []),
        name="Value",
    )
    source = record(("connector", "string"), ("ts_ms", "long"), ("lsn", "long"), name="Source")
    sides = (("before", ["null", row], None), ("after", ["null", "com.example.Value"], None))
    value = record(*sides, ("source", source), ("op", "string"), name="Envelope")
    schema = record(("id", "long"), name="Key") if of_key else value
    serialise = AvroSerializer(registry.client(), json.dumps(schema))
    return lambda fields, topic, field: bytes(
        serialise(fields, SerializationContext(topic, field)) or b""
    )


def protobuf(registry: SchemaRegistry, of_key: bool, with_price: bool) -> Write:
    """The same as messages."""
    price = "optional double price = 3;" if with_price else ""
    source = f"""syntax = "proto3"; package shop;
        message Envelope {{
          message Value {{ int64 id = 1; optional string name = 2; {price} }}
          message Source {{ string connector = 1; int64 ts_ms = 2; int64 lsn = 3; }}
          Value before = 1; Value after = 2; Source source = 3; string op = 4; }}"""
    key = 'syntax = "proto3"; package shop; message Key { int64 id = 1; }'
    made: type[Message] = message_class(
        *((key, "shop.Key") if of_key else (source, "shop.Envelope"))
    )
    conf = {"use.deprecated.format": False}
    serialise = ProtobufSerializer(made, registry.client(), conf)
    return lambda fields, topic, field: bytes(
        serialise(made(**fields), SerializationContext(topic, field)) or b""
    )


def form(kind: str, record_name: str) -> dict[str, Any]:
    named = {"record": record_name} if kind == "protobuf" else {}
    return {"type": kind, "registry": REGISTRY, **named}


KINDS = {
    name: Kind({**form(name, "shop.Envelope"), "envelope": "debezium"}, form(name, "shop.Key"), how)
    for name, how in (("avro", avro), ("protobuf", protobuf))
}


@dataclass
class Source:
    """A table whose changes a connector writes."""

    trips: Installed
    registry: SchemaRegistry
    kind: Kind
    with_price: bool = False
    lsn: int = 0

    def changes(self, op: str | None, key: int, **row: Any) -> None:
        """One change of a row; None for a tombstone."""
        self.lsn += 1
        (topic,) = self.trips.topics
        write = self.kind.writer(self.registry, True, False)
        named = write({"id": key}, topic, MessageField.KEY)
        value = None
        if op is not None:
            side = {"id": key, **row}
            told = {"connector": "postgresql", "ts_ms": self.lsn, "lsn": self.lsn}
            event = {("before" if op == "d" else "after"): side, "source": told, "op": op}
            write = self.kind.writer(self.registry, False, self.with_price)
            value = write(event, topic, MessageField.VALUE)
        produce(self.trips.bootstrap, topic, [value], key=named)

    def is_followed(self) -> dict[int, tuple[Any, ...]]:
        """The batches land, the state follows, and is right; its rows by key."""
        self.trips.run()
        self.trips.open().refresh()
        self.trips.judge_state()
        read = self.trips.session().read.format("delta")
        rows = read.load(str(self.trips.warehouse / "trips__state")).collect()
        names = [each for each in ("name", "price") if each in rows[0].asDict()]
        return {row["_key_id"]: (*(row[e] for e in names), row["_deleted"]) for row in rows}


@pytest.mark.parametrize("name", KINDS)
def test_the_state_is_what_the_events_say_while_their_schema_grows(
    schema_registry: SchemaRegistry, topic: Topic, pipeline: Pipelines, name: str
) -> None:
    kind = KINDS[name]
    trips = pipeline(
        topic(1),
        format=kind.form,
        key_format=kind.key_form,
        evolution="add_columns",
        derived={"lsn": "try_cast(get_json_object(_source, '$.lsn') AS BIGINT)"},
        state={"order_by": ["lsn"], "unavailable": UNAVAILABLE},
    )
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = schema_registry.connection()
    source = Source(trips, schema_registry, kind)
    for key in (1, 2, 3):
        source.changes("c", key, name=f"n{key}")
    assert source.is_followed() == {key: (f"n{key}", False) for key in (1, 2, 3)}
    source.with_price = True
    source.changes("u", 1, name=UNAVAILABLE, price=1.5)
    source.changes("d", 2)
    source.changes("d", 3)
    source.changes(None, 3)
    source.changes("r", 4, name="n4")
    found = source.is_followed()
    assert found.pop(1) == ("n1", 1.5, False)
    assert found.pop(4) == ("n4", None, False)
    assert [deleted for *_, deleted in found.values()] == [True, True]
    assert trips.quarantined() == []
