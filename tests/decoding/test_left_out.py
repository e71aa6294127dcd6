"""Which records `only` leaves out by their bytes, and that a doubt never leaves one out."""

from __future__ import annotations

import json
import random
import struct
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.lake.decoding.decode import DECODED
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.left_out import (
    LEFT_OUT,
    is_left_out,
    offsets_left_out,
    records_of,
    with_notes,
    with_unknown_kinds,
)
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import AvroFormat, ProtobufFormat
from sluice.spec_file.only import Only

from tests.worlds.protobuf_schemas import of_registry

COLUMNS = (
    "topic STRING, partition INT, offset BIGINT, value BINARY,"
    " headers ARRAY<STRUCT<key STRING, value BINARY>>"
)
AVRO = AvroFormat(type="avro", registry="r")
PROTOBUF = ProtobufFormat(type="protobuf", registry="r")


def framed(number: int, rest: bytes = b"") -> bytes:
    return struct.pack(">bI", 0, number) + rest


def left_out(
    spark: SparkSession, only: Only, form: Any, writers: list[RegisteredSchema], *values: Any
) -> list[bool]:
    records = [
        ("t", 0, at, *(each if isinstance(each, tuple) else (each, None)))
        for at, each in enumerate(values)
    ]
    marked = spark.createDataFrame(records, COLUMNS).withColumn(
        LEFT_OUT, is_left_out(only, form, {each.key: each for each in writers})
    )
    return [row[LEFT_OUT] for row in marked.orderBy("offset").collect()]


def test_avro_records_are_told_by_the_name_of_their_schema(spark: SparkSession) -> None:
    def named(key: str, name: str) -> RegisteredSchema:
        text = json.dumps({"type": "record", "namespace": "shop", "name": name, "fields": []})
        return RegisteredSchema(key, "AVRO", text)

    broken = RegisteredSchema("3", "AVRO", "{")
    writers = [named("1", "Order"), named("2", "Click"), broken]
    values = [framed(1), framed(2), framed(3), framed(4), b"no frame", b"", None]
    found = left_out(spark, Only(record="shop.Order"), AVRO, writers, *values)
    assert found == [False, True, False, False, False, False, False]


def test_protobuf_records_are_told_by_their_message(spark: SparkSession) -> None:
    source = 'syntax = "proto3"; package p; message A { message B {} } message C {}'
    writers = [of_registry("1", source)]
    indexes = {"A": b"\0", "B": b"\4\0\0", "C": b"\2\2", "none": b"\2\x10", "cut": b"\4"}
    values = [framed(1, each) for each in indexes.values()]
    assert left_out(spark, Only(record="p.A.B"), PROTOBUF, writers, *values) == [
        *(True, False, True, False, False)
    ]


def test_ids_are_read_from_frames_and_headers(spark: SparkSession) -> None:
    header = [("__value_schema_id", framed(9))]
    values = [framed(7), framed(8), b"no frame", None, (b"x", header), (framed(7), header)]
    found = left_out(spark, Only(schema_ids=[7]), AVRO, [], *values)
    assert found == [False, True, False, False, True, True]


GUID = "89791762-2336-4186-9674-299b90a802e2"


def named_by(guid: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    return b"x", [("__value_schema_id", b"\1" + UUID(guid).bytes)]


def test_a_guid_is_compared_with_guids_and_a_number_with_numbers(spark: SparkSession) -> None:
    """Both may be of one schema: the other way to name it says nothing of a record's kind."""
    values = [framed(7), framed(8), named_by(GUID), named_by(GUID[:-1] + "3"), b"no frame"]

    def found(*listed: int | str) -> list[bool]:
        return left_out(spark, Only(schema_ids=list(listed)), AVRO, [], *values)

    assert found(GUID.upper()) == [False, False, False, True, False]
    assert found(7) == [False, True, False, False, False]
    assert found(7, GUID) == [False, True, False, True, False]


def test_a_record_that_names_its_schema_in_another_way_is_told_to_be_of_no_known_kind(
    spark: SparkSession,
) -> None:
    records = [(at, *each) for at, each in enumerate([(framed(7), None), named_by(GUID)])]
    frame = spark.createDataFrame(
        [*records, (2, None, None)],
        "at INT, value BINARY, headers ARRAY<STRUCT<key STRING, value BINARY>>",
    )
    decoded = frame.withColumn(
        DECODED["value"], F.expr("if(value IS NULL, NULL, struct(1 AS id, 'x' AS `(error)`))")
    )

    def errors(*listed: int | str) -> list[str | None]:
        found = with_unknown_kinds(decoded, Only(schema_ids=list(listed)))
        rows = found.select(DECODED["value"]).orderBy("at").collect()
        return [each[0] and each[0][ERROR] for each in rows]

    then = ": its kind is unknown; list it in only.schema_ids, or write only.record"
    by_guid = f"expected a schema's number, as only.schema_ids lists, found the GUID {GUID}{then}"
    by_number = f"expected a schema's GUID, as only.schema_ids lists, found the number 7{then}"
    assert errors(7) == ["x", by_guid, None]
    assert errors(GUID) == [by_number, "x", None]
    assert errors(7, GUID) == ["x", "x", None]


def test_a_header_is_compared_byte_by_byte(spark: SparkSession) -> None:
    found = left_out(
        spark,
        Only(header="kind", value="größe"),
        AVRO,
        [],
        (b"x", [("kind", "größe".encode())]),
        (b"x", [("kind", b"other"), ("kind", "größe".encode())]),
        (b"x", [("Kind", "größe".encode())]),
        (b"x", [("kind", None)]),
        (b"x", [("kind", b"\xff")]),
        b"x",
        (None, [("kind", "größe".encode())]),
        None,
    )
    assert found == [False, False, True, True, True, True, False, True]


Place = tuple[int, int]
PLACES = f"topic STRING, partition INT, offset BIGINT, value BINARY, {LEFT_OUT} BOOLEAN"


def noted(
    spark: SparkSession, found: dict[Place, bool], tasks: int, *, drop: bool = True
) -> tuple[dict[Place, bytes | None], dict[int, list[int]]]:
    """What stays of some places, each left out or not, that so many tasks read; and the notes."""
    rows = [("t", *place, b"x", gone) for place, gone in found.items()]
    read = spark.createDataFrame(rows, PLACES).repartition(tasks)
    kept = with_notes(read, drop=drop).localCheckpoint()
    stays = {(row["partition"], row["offset"]): row["value"] for row in records_of(kept).collect()}
    assert {at.topic for at in offsets_left_out(kept)} <= {"t"}
    return stays, {at.partition: each.tolist() for at, each in offsets_left_out(kept).items()}


@pytest.mark.parametrize("tasks", [1, 3])
def test_the_offsets_are_found_whatever_lies_between_them(spark: SparkSession, tasks: int) -> None:
    offsets = [0, 1, 32767, 32768, 32769, 10**15]
    found = {(at % 2, at): True for at in offsets} | {(0, 5): False}
    stays, notes = noted(spark, found, tasks)
    assert notes == {0: [0, 32768, 10**15], 1: [1, 32767, 32769]}
    assert stays == {(0, 5): b"x"}


@pytest.mark.parametrize("tasks", [1, 5])
def test_random_halves_are_found_exactly(spark: SparkSession, tasks: int) -> None:
    chance = random.Random(7)
    found = {(at % 3, at): chance.random() < 0.5 for at in range(70_000)}
    stays, notes = noted(spark, found, tasks)
    assert notes == {
        each: [at for (partition, at), gone in found.items() if gone and partition == each]
        for each in range(3)
    }
    assert stays == {place: b"x" for place, gone in found.items() if not gone}


@pytest.mark.parametrize("drop", [False, True])
def test_a_replacement_also_has_the_places_of_what_is_left_out(
    spark: SparkSession, drop: bool
) -> None:
    found = {(0, 0): False, (0, 1): True, (1, 7): True}
    stays, notes = noted(spark, found, 2, drop=drop)
    assert notes == {0: [1], 1: [7]}
    assert stays == {(0, 0): b"x"} | ({} if drop else {(0, 1): None, (1, 7): None})


def test_nothing_read_and_nothing_left_out_are_no_notes(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], PLACES)
    assert offsets_left_out(with_notes(empty, drop=True)) == {}
    assert noted(spark, {(0, 3): False}, 1) == ({(0, 3): b"x"}, {})
