"""JSON behind a schema registry: framed as Confluent's own serialisers frame it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import JsonFormat, Source

pytestmark = pytest.mark.spark

TRIP = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Trip",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "at": {"oneOf": [{"type": "null"}, {"type": "string", "format": "date-time"}]},
    },
}
Headers = list[tuple[str, bytes | None]]
Record = tuple[bytes | None, Headers | None]
ID, GUID = "5", "01020304-0506-0708-090a-0b0c0d0e0f10"
KNOWN = {
    "5": RegisteredSchema("5", "JSON", json.dumps(TRIP)),
    "6": RegisteredSchema("6", "AVRO", '"string"'),
    "4294967295": RegisteredSchema("4294967295", "JSON", json.dumps(TRIP)),
    GUID: RegisteredSchema(GUID, "JSON", json.dumps(TRIP)),
}


def form() -> JsonFormat:
    keys = {"type": "json", "registry": "schema_registry_default"}
    return JsonFormat.model_validate(keys).read_as(KNOWN["5"])


def found(
    spark: SparkSession,
    records: list[Record],
    source: Source = "value",
    of: JsonFormat | None = None,
) -> list[dict[str, Any]]:
    rows = [
        (
            place,
            None if data is None else bytearray(data),
            None if headers is None else [(k, v and bytearray(v)) for k, v in headers],
        )
        for place, (data, headers) in enumerate(records)
    ]
    schema = f"place INT, {source} BINARY, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    frame = decoder(of or form(), source, KNOWN)(spark.createDataFrame(rows, schema))
    assert set(frame.columns) == {"place", source, "headers", DECODED[source]}
    decoded = frame.select("place", f"{DECODED[source]}.*").orderBy("place").collect()
    return [
        {k: v for k, v in row.asDict().items() if k != "place" and v is not None} for row in decoded
    ]


def test_a_record_is_what_confluents_serialiser_wrote(spark: SparkSession) -> None:
    client = SchemaRegistryClient.new_client({"url": "mock://trips"})
    plain = JSONSerializer(json.dumps(TRIP), client)
    value = plain({"id": 7}, SerializationContext("trips", MessageField.VALUE))
    by_header = JSONSerializer(
        json.dumps(TRIP), client, conf={"schema.id.serializer": header_schema_id_serializer}
    )
    headers: Headers = [("__value_schema_id", b"an older one")]
    body = by_header({"id": 8}, SerializationContext("trips", MessageField.VALUE, headers))
    at, bare = value[:5], value[5:]
    first, second = found(spark, [(value, None), (body, headers)])
    assert first == {"(error)": f"no such schema in the registry: {int.from_bytes(at[1:], 'big')}"}
    (_, guid) = headers[-1]
    assert guid is not None
    assert second["(error)"].split(" ")[-1].replace("-", "") == guid[1:].hex()
    known = b"\0" + (5).to_bytes(4, "big")
    mine = [*headers[:-1], ("__value_schema_id", b"\x01" + bytes(range(1, 17)))]
    assert found(spark, [(known + bare, None), (body, mine)]) == [{"id": 7}, {"id": 8}]


def framed(key: int, body: bytes) -> bytes:
    return b"\0" + key.to_bytes(4, "big") + body


NO_FRAME = "no schema id: expected the byte 0 and an id, or a header, found "
BY_HEADER = "__value_schema_id"
TOLD: list[tuple[Record, dict[str, Any]]] = [
    ((framed(5, b'{"id":1}'), None), {"id": 1}),
    ((framed(5, b' {"id":1,"z":2}\n'), []), {"id": 1}),
    ((framed(2**32 - 1, b'{"id":1}'), None), {"id": 1}),
    ((None, None), {}),
    ((None, [(BY_HEADER, b"\0\0\0\0\x05")]), {}),
    ((b'{"id":2}', [(BY_HEADER, b"\0\0\0\0\x05")]), {"id": 2}),
    ((framed(5, b'{"id":2}'), [(BY_HEADER, b"\1"), (BY_HEADER, None), ("x", b"\2")]), {"id": 2}),
    ((framed(5, b'{"id":"x"}'), None), {"(error)": 'id: expected BIGINT, found "x"'}),
    ((framed(5, b""), None), {"(error)": "not one JSON object: found no bytes"}),
    ((framed(9, b'{"id":1}'), None), {"(error)": "no such schema in the registry: 9"}),
    ((framed(6, b'{"id":1}'), None), {"(error)": "schema 6: expected JSON, found AVRO"}),
    ((b'{"id":1}', None), {"(error)": f"{NO_FRAME}0x7b22696422"}),
    ((b"\0\0\0\0", None), {"(error)": f"{NO_FRAME}0x00000000"}),
    ((b"", None), {"(error)": f"{NO_FRAME}no bytes"}),
    ((framed(5, b"{}"), [(BY_HEADER, b"\2x")]), {"(error)": f"{NO_FRAME}a header of 0x0278"}),
    ((framed(5, b"{}"), [(BY_HEADER, b"")]), {"(error)": f"{NO_FRAME}an empty header"}),
]


def test_the_frame_decides(spark: SparkSession) -> None:
    assert found(spark, [record for record, _ in TOLD]) == [each for _, each in TOLD]


def test_a_key_has_its_own_frame(spark: SparkSession) -> None:
    header: Headers = [("__key_schema_id", b"\0\0\0\0\x05"), (BY_HEADER, b"\2")]
    records: list[Record] = [(framed(5, b'{"id":1}'), None), (b'{"id":2}', header), (None, None)]
    assert found(spark, records, source="key") == [{"id": 1}, {"id": 2}, {}]


def test_a_schema_of_a_file_reads_records_without_frames(spark: SparkSession) -> None:
    files = {"files": {"trip.json": json.dumps(TRIP).encode()}}
    of_file = JsonFormat.model_validate({"type": "json", "schema_file": "trip.json"}, context=files)
    records: list[Record] = [
        (b'{"id":1,"at":"2013-01-01T05:00:00Z"}', None),
        (framed(5, b"{}"), None),
    ]
    first, second = found(spark, records, of=of_file)
    assert first["id"] == 1
    assert str(first["at"]) == "2013-01-01 05:00:00"
    frame = "Confluent's frame with schema id 5"
    assert second == {"(error)": f"not one JSON object: found {frame}"}


BYTES = st.binary(max_size=40)
BODIES = BYTES | st.sampled_from([b'{"id":1}', b'{"id":"x"}', b"{}", b'{"at":5}'])
VALUES = st.builds(
    lambda start, body: start + body, BYTES | st.sampled_from([framed(5, b"")]), BODIES
)
HEADERS = st.none() | st.lists(st.tuples(st.sampled_from([BY_HEADER, "", "x"]), BYTES), max_size=2)


@settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(VALUES, HEADERS), min_size=200, max_size=200))
def test_no_bytes_make_a_pass_fail(spark: SparkSession, records: list[Record]) -> None:
    for record, judged in zip(records, found(spark, records), strict=True):
        assert "(error)" not in judged or len(judged) == 1, record
