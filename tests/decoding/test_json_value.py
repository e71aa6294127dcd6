"""JSON records that are no objects are one column: the JSON text of a value, as strictly read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import JsonFormat

from tests.decoding.json_records import values
from tests.decoding.reference_json_text import Misfit, json_text, one_value

pytestmark = pytest.mark.spark

TUPLES = RegisteredSchema("5", "JSON", '{"type": "array", "items": [{}, {}]}')
NOT_ONE = "not one JSON value"
Outcome = str | None | list[str]


def found(
    spark: SparkSession, values: Sequence[bytes | None], registry: str | None = None, **more: Any
) -> list[Outcome]:
    """Of each record the column's value, or the error in a list."""
    keys = {"type": "json", "registry": registry} if registry else JSON_FILE
    form = JsonFormat.model_validate(keys, context=FILES).read_as(TUPLES)
    rows = [(n, None if each is None else bytearray(each), None) for n, each in enumerate(values)]
    schema = "place INT, value BINARY, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    decode = decoder(form, "value", {"5": TUPLES}, **more)
    decoded = decode(spark.createDataFrame(rows, schema))
    columns = decoded.select("place", f"{DECODED['value']}.*").orderBy("place").collect()
    return [row["value"] if row[ERROR] is None else [row[ERROR]] for row in columns]


JSON_FILE = {"type": "json", "schema_file": "tuples.json"}
FILES = {"files": {"tuples.json": TUPLES.text.encode()}}
DEEP = b"[" * 1000 + b"]" * 1000
TOLD: dict[bytes, Outcome] = {
    b' [2, "insert", {"id": 1.50}]\n': '[2,"insert",{"id":1.50}]',
    b'[{"id": "1"}, {"id": "2"}]': '[{"id":"1"},{"id":"2"}]',
    b'{"a": {"b": []}, "a": 1}': '{"a":{"b":[]},"a":1}',
    b'"K\xc3\xb6ln"': '"Köln"',
    b'""': '""',
    b"null": "null",
    b"true": "true",
    b" -1.10e400 ": "-1.10e400",
    b"9" * 5000: "9" * 5000,
    b"[]": "[]",
    DEEP: DEEP.decode(),
    b"[" + DEEP + b"]": [NOT_ONE],
    b"": [NOT_ONE],
    b" ": [NOT_ONE],
    b"[1] [2]": [NOT_ONE],
    b"1 2": [NOT_ONE],
    b'{"a": 1}x': [NOT_ONE],
    b"[1": [NOT_ONE],
    b'"a': [NOT_ONE],
    b"tru": [NOT_ONE],
    b"01": [NOT_ONE],
    b"NaN": [NOT_ONE],
    b"[NaN]": [NOT_ONE],
    b"[Infinity]": [NOT_ONE],
    b"[1,]": [NOT_ONE],
    b"['a']": [NOT_ONE],
    b"\xef\xbb\xbf[]": [NOT_ONE],
    b"[\0]": [NOT_ONE],
    '["a"]'.encode("utf-16-le"): [NOT_ONE],
    b'["\xff"]': ["not strict UTF-8"],
    b'["\\ud800"]': ["a lone surrogate escape"],
}


def test_any_json_value_is_its_text_and_nothing_else_is(spark: SparkSession) -> None:
    *seen, none = map(_told, found(spark, [*TOLD, None]))
    assert seen == list(TOLD.values())
    assert none is None


def _told(outcome: Outcome) -> Outcome:
    """Without what was found, and where: test_json_flaws has these."""
    return [outcome[0].split(":")[0]] if isinstance(outcome, list) else outcome


def test_records_of_a_registry_have_their_frames(spark: SparkSession) -> None:
    frame = b"\0\0\0\0\x05"
    values = [frame + b"[1, 2]", frame, b"\0\0\0\0\x06[]", b"[1, 2]"]
    first, second, third, fourth = found(spark, values, registry="r")
    assert first == "[1,2]"
    assert _told(second) == [NOT_ONE]
    assert third == ["no such schema in the registry: 6"]
    assert isinstance(fourth, list)
    assert fourth[0].startswith("no schema id: expected the byte 0")


def test_there_is_nothing_to_rescue(spark: SparkSession) -> None:
    form = JsonFormat.model_validate(JSON_FILE, context=FILES)
    rows = spark.createDataFrame([(bytearray(b'{"a": 1}'),)], "value BINARY")
    decoded = decoder(form, "value", {}, rescue=True)(rows)
    (row,) = decoded.select(f"{DECODED['value']}.*").collect()
    assert row.asDict() == {"value": '{"a":1}', "_rescued": None, ERROR: None}


def told(value: bytes | Outcome) -> str | None:
    """What is told by a record, or by its column; None by an error."""
    if not isinstance(value, bytes | str):
        return None
    try:
        found = one_value(value if isinstance(value, bytes) else value.encode())
    except Misfit:
        return None
    # A string alone may be escaped in either way.
    return repr(found) if type(found) is str else json_text(found)


@settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6))
def test_spark_gives_the_verdict_of_the_reference(spark: SparkSession, seed: int) -> None:
    sent = values(seed, 300)
    for value, outcome in zip(sent, found(spark, sent), strict=True):
        assert told(outcome) == told(value), value
        assert not isinstance(outcome, str) or outcome.startswith('"') or outcome == told(value)
