"""Keys of Kafka's own serializers: their numbers and texts are columns, other bytes are told."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka.serialization import IntegerSerializer, StringSerializer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder
from sluice.spec_file.key_formats import SCALARS, Scalar, ScalarFormat

pytestmark = pytest.mark.spark

LONGS = [0, 1, -1, 42, 2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 0x0102030405060708]
INTS = [0, 1, -1, 42, 2**31 - 1, -(2**31), 0x01020304]
TEXTS = ["", "customer-7", "Köln", "a\0b", "\U0001f600", "é" * 1000]
UUIDS = [str(uuid.UUID(int=each)) for each in (0, 1, 2**128 - 1, 0x123E4567E89B12D3 << 64)]


def found(spark: SparkSession, scalar: Scalar, keys: Sequence[bytes | None]) -> list[Any]:
    """Of each key the column's value, or the error as text in a list."""
    rows = [(n, None if key is None else bytearray(key)) for n, key in enumerate(keys)]
    records = spark.createDataFrame(rows, "place INT, key BINARY")
    decode = decoder(ScalarFormat(type=scalar), "key", {})
    decoded = decode(records).select("place", f"{DECODED['key']}.*").orderBy("place")
    return [
        row["value"] if row["(error)"] is None else [row["(error)"], row["value"]]
        for row in decoded.collect()
    ]


def by_java(spark: SparkSession, name: str, values: Sequence[Any]) -> list[bytes]:
    """As Kafka's own client writes them."""
    jvm: Any = spark._jvm
    serializer = getattr(jvm.org.apache.kafka.common.serialization, f"{name}Serializer")()
    return [bytes(serializer.serialize("topic", each)) for each in values]


def test_a_long_is_what_kafkas_serializer_wrote(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    keys = by_java(spark, "Long", [jvm.java.lang.Long.valueOf(str(each)) for each in LONGS])
    assert keys[3] == b"\0\0\0\0\0\0\0*"
    assert found(spark, "long", [*keys, None]) == [*LONGS, None]


def test_an_int_is_what_kafkas_serializers_wrote(spark: SparkSession) -> None:
    keys = by_java(spark, "Integer", INTS)
    assert keys == [IntegerSerializer()(each) for each in INTS]
    assert found(spark, "int", [*keys, None]) == [*INTS, None]


def test_a_text_is_what_kafkas_serializers_wrote(spark: SparkSession) -> None:
    keys = by_java(spark, "String", TEXTS)
    assert keys == [StringSerializer()(each) for each in TEXTS]
    assert found(spark, "text", [*keys, None]) == [*TEXTS, None]


def test_a_uuid_is_what_kafkas_serializer_wrote(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    keys = by_java(spark, "UUID", [jvm.java.util.UUID.fromString(each) for each in UUIDS])
    others = [each.upper() for each in UUIDS]
    assert found(spark, "uuid", [*keys, *(each.encode() for each in others), None]) == [
        *UUIDS,
        *others,
        None,
    ]


HOSTILE: dict[Scalar, dict[bytes, str]] = {
    "long": {
        b"": "expected 8 bytes, found 0",
        b"\0\0\0*!": "expected 8 bytes, found 5",
        b"\0\0\0\0\0\0\0\0*": "expected 8 bytes, found 9",
        b"\xff" * 100_000: "expected 8 bytes, found 100000",
    },
    "int": {
        b"\0\0*": "expected 4 bytes, found 3",
        b"\0\0\0\0\0\0\0*": "expected 4 bytes, found 8",
    },
    "text": {
        b"\xff": "not strict UTF-8",
        b"a\xc0\x80": "not strict UTF-8",
        b"\xed\xa0\x80": "not strict UTF-8",
        b"\xf4\x90\x80\x80": "not strict UTF-8",
    },
    "uuid": {
        b"": "expected a UUID of 36 bytes, found 0",
        UUIDS[1].encode() + b"\n": "expected a UUID of 36 bytes, found 37",
        UUIDS[1].encode()[:-1] + b"\n": f'expected a UUID, found "{UUIDS[1][:-1]}?"',
        UUIDS[1].replace("-", "0").encode(): f'expected a UUID, found "{"0" * 35}1"',
        b"\xff" * 36: f'expected a UUID, found "{"?" * 36}"',
        uuid.UUID(UUIDS[3]).bytes: "expected a UUID of 36 bytes, found 16",
    },
}


@pytest.mark.parametrize("scalar", HOSTILE)
def test_other_bytes_are_undecodable_with_the_reason(spark: SparkSession, scalar: Scalar) -> None:
    told = [[why, None] for why in HOSTILE[scalar].values()]
    assert found(spark, scalar, list(HOSTILE[scalar])) == told


KEYS = st.binary(max_size=40) | st.sampled_from([4, 8]).flatmap(
    lambda size: st.binary(min_size=size, max_size=size)
)


@settings(max_examples=1, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(KEYS, min_size=300, max_size=300))
def test_every_key_is_the_number_that_it_is_or_told(spark: SparkSession, keys: list[bytes]) -> None:
    lengths: dict[Scalar, int] = {"long": 8, "int": 4}
    for scalar, length in lengths.items():
        expected = [
            int.from_bytes(key, signed=True)
            if len(key) == length
            else [f"expected {length} bytes, found {len(key)}", None]
            for key in keys
        ]
        assert found(spark, scalar, keys) == expected
    texts: list[Scalar] = ["text", "uuid"]
    assert [len(found(spark, each, keys)) for each in texts] == [len(keys), len(keys)]


def test_each_scalar_is_tried() -> None:
    assert set(HOSTILE) == set(SCALARS)
