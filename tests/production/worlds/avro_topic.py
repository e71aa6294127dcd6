"""A topic of Avro records, written by Confluent's own serialiser, and what they mean.

Read back by fastavro, which the product does not use.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import fastavro
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

Row = dict[str, Any]


def record(*fields: tuple[Any, ...], name: str = "Order") -> dict[str, Any]:
    """An Avro record; a field is a name and a type, and may have a default."""
    listed = [
        {"name": each[0], "type": each[1], **({"default": each[2]} if len(each) > 2 else {})}
        for each in fields
    ]
    return {"type": "record", "name": name, "namespace": "com.example", "fields": listed}


def send(
    registry: SchemaRegistry,
    bootstrap: str,
    topic: str,
    schema: Mapping[str, Any],
    rows: Sequence[Row],
    key: bytes | None = b"k",
) -> list[bytes]:
    """Write rows with a schema, which is registered first. Returns the values."""
    serialise = AvroSerializer(registry.client(), json.dumps(schema))
    values = [serialise(row, SerializationContext(topic, MessageField.VALUE)) for row in rows]
    produce(bootstrap, topic, values, key=key)
    return values


def reference(
    reader: Mapping[str, Any], writers: Mapping[int, Mapping[str, Any]]
) -> Callable[[bytes], Row | None]:
    """For the oracle: a value as the reader has it; None where it cannot be read."""
    parsed = {number: fastavro.parse_schema(dict(each)) for number, each in writers.items()}
    wanted = fastavro.parse_schema(dict(reader))

    def decode(value: bytes) -> Row | None:
        if len(value) < 5 or value[0] != 0:
            return None
        writer = parsed.get(struct.unpack(">I", value[1:5])[0])
        body = io.BytesIO(value[5:])
        if writer is None:
            return None
        try:
            found: Any = fastavro.schemaless_reader(body, writer, wanted)
        except (
            ValueError,
            EOFError,
            IndexError,
            TypeError,
            KeyError,
            fastavro.read.SchemaResolutionError,
        ):
            return None
        return found if not body.read() else None

    return decode
