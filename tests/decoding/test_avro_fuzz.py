"""Random and broken bytes: Spark and fastavro give one verdict, and nothing makes a pass fail."""

from __future__ import annotations

import json
import random
from typing import Any

import fastavro
import pytest
from fastavro.utils import generate_many
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.decoding import reference_avro
from tests.decoding.alike import alike
from tests.decoding.avro_decoding import decoded_avro, encoded, fixed, logical, record, schema
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark

INNER = record({"x": ["null", "long"], "y": "string"}, "a.Inner")
WHOLE = record(
    {
        "b": "boolean",
        "i": "int",
        "l": ["null", "long"],
        "f": "float",
        "d": "double",
        "s": "string",
        "z": "bytes",
        "day": logical("int", "date"),
        "at": logical("long", "timestamp-micros"),
        "sum": logical("bytes", "decimal", precision=9, scale=2),
        "e": {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        "x": fixed("F", 2),
        "u": ["int", "null", "string"],
        "a": {"type": "array", "items": INNER},
        "m": {"type": "map", "values": {"type": "array", "items": "a.Inner"}},
    }
)
PLAIN: Any = json.loads(json.dumps(WHOLE).replace('"logicalType"', '"was"'))
some = settings(
    max_examples=3,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def broken(body: bytes, drawn: random.Random) -> bytes:
    """The bytes with one place changed, cut, lengthened or made into a large number."""
    at = drawn.randrange(len(body) + 1)
    match drawn.randrange(6):
        case 0:
            return body[:at]
        case 1:
            return body[:at] + bytes([drawn.randrange(256)]) + body[at + 1 :]
        case 2:
            return body[:at] + drawn.randbytes(drawn.randrange(1, 4)) + body[at:]
        case 3:
            return body[:at] + b"\xfe\xff\xff\xff\x0f" + body[at + 1 :]
        case 4:
            return body[:at] + b"\xff" * 9 + b"\x01" + body[at:]
        case _:
            return drawn.randbytes(at)


@some
@given(seed=st.integers(0, 2**32))
def test_spark_gives_the_verdict_of_the_reference(spark: SparkSession, seed: int) -> None:
    drawn = random.Random(seed)
    random.seed(seed)  # generate_many draws from it
    parsed = fastavro.parse_schema(PLAIN)
    whole = [encoded(PLAIN, held(each)) for each in generate_many(parsed, 150)]
    values = [*whole, *(broken(drawn.choice(whole), drawn) for _ in range(1500))]
    found = decoded_avro(spark, schema(WHOLE), values)
    text = json.dumps(WHOLE)
    assert all(isinstance(each, dict) for each in found[: len(whole)])
    for value, ours in zip(values, found, strict=True):
        reference = reference_avro.decode(value, text)
        told = f"{value!r}: {ours}, expected {reference}"
        if isinstance(ours, Undecodable):
            assert isinstance(reference, Undecodable), told
        else:
            assert alike(ours, reference), told


def held(value: Any) -> Any:
    """With values that their columns can hold."""
    moment = value["at"] % 10**15
    return {**value, "day": value["day"] % 10**5, "at": moment, "sum": value["sum"][:3]}
