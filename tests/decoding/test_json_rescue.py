"""What no column declares is rescued, as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import types as T
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.decoding.json_records import json_struct

from tests.decoding.json_records import records
from tests.decoding.reference_ddl import Type, schema
from tests.decoding.reference_json import Undecodable, decode
from tests.decoding.reference_json_text import Members, one_object

pytestmark = pytest.mark.spark

SCALARS = "a STRING, b INT, m DECIMAL(6,2)"
NESTED = "a STRING, n STRUCT<a: STRING>, o ARRAY<DECIMAL(5,2)>"
DEEP = "a STRUCT<x: INT, y: ARRAY<STRUCT<z: INT>>>, m MAP<STRING, STRUCT<z: INT>>"

some = settings(
    max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def rescued(
    spark: SparkSession, ddl: str, values: Sequence[bytes | None]
) -> list[tuple[str | None, str | None]]:
    """`_rescued` and the error of each value."""
    rows = [(i, None if each is None else bytearray(each)) for i, each in enumerate(values)]
    frame = spark.createDataFrame(rows, "place INT, value BINARY")
    fields = T._parse_datatype_string(ddl)
    assert isinstance(fields, T.StructType)
    rescuing = json_struct(fields, "value", rescue=True, unmatched="lands").alias("d")
    found = frame.select("place", rescuing).select("place", "d._rescued", f"d.`{ERROR}`").collect()
    return [(row["_rescued"], row[ERROR]) for row in sorted(found)]


def reference(value: bytes, ddl: str) -> Any:
    """What no field declares, at every depth, numbers as texts of their own kind."""
    return _plain(_left(one_object(value), Type("STRUCT", fields=tuple(schema(ddl).items()))))


def _plain(value: Any) -> Any:
    if isinstance(value, Members):
        return _plain(value.last())
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _left(value: Any, kind: Type) -> Any:
    if kind.name == "STRUCT" and isinstance(value, Members):
        known, left = dict(kind.fields), {}
        for name, each in value.last().items():
            rest = _left(each, known[name]) if name in known else each
            if name not in known or rest is not None:
                left[name] = rest
        return left or None
    if kind.name == "MAP" and isinstance(value, Members) and kind.element:
        found = {name: _left(each, kind.element) for name, each in value.last().items()}
        return {name: each for name, each in found.items() if each is not None} or None
    if kind.name == "ARRAY" and isinstance(value, list) and kind.element:
        rests = [_left(each, kind.element) for each in value]
        while rests and rests[-1] is None:
            rests.pop()
        return rests or None
    return None


def members(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    found = one_object(text.encode())
    assert len(found.last()) == len(found.pairs), "a name twice"
    return _plain(found)


def test_what_is_not_declared_is_kept_as_written(spark: SparkSession) -> None:
    table = {
        '{"a":"x","b":1}': None,
        "{}": None,
        '{"A":1.50}': '{"A":1.50}',
        ' { "z" : [ 1e5 , {"q": -0, "q": 12345678901234567890123 } ] , "a":1, "y":null }\n': (
            '{"z":[1e5,{"q":-0,"q":12345678901234567890123}],"y":null}'
        ),
        r'{"\u0061":"x","\u0062b":"q\"\\\/\n\u0001"}': r'{"bb":"q\"\\/\n\u0001"}',
        r'{"\ud83d\ude00":{"\u00e9":"\ud83d\ude00"}}': r'{"😀":{"é":"\uD83D\uDE00"}}',
        '{"z":1,"y":true,"z":"2"}': '{"y":true,"z":"2"}',
        '{"":{},"(error)":[],"_rescued":"é😀"}': '{"":{},"(error)":[],"_rescued":"é😀"}',
        f'{{"z":"{"x" * 5000}"}}': f'{{"z":"{"x" * 5000}"}}',
    }
    found = rescued(spark, SCALARS, [each.encode() for each in table])
    assert found == [(each, None) for each in table.values()]


def test_what_lies_deeper_is_kept_in_its_place(spark: SparkSession) -> None:
    table = {
        '{"a":{"x":1,"w":2},"n":3}': '{"a":{"w":2},"n":3}',
        '{"a":{"y":[{"z":1},{"z":1,"v":1.0},{"z":2}]}}': '{"a":{"y":[null,{"v":1.0}]}}',
        '{"m":{"k":{"z":1},"l":{"u":[]}}}': '{"m":{"l":{"u":[]}}}',
        '{"a":{"w":1},"a":{"x":1}}': None,
        '{"a":{"x":1,"w":1},"n":1,"a":{"x":2,"w":2}}': '{"n":1,"a":{"w":2}}',
        '{"a":null,"m":{"k":null}}': None,
        '{"a":{"w":5}}': '{"a":{"w":5}}',
        '{"a":null}': None,
    }
    found = rescued(spark, DEEP, [each.encode() for each in table])
    assert found == [(each, None) for each in table.values()]


def test_a_tombstone_and_an_undecodable_record_have_nothing_to_rescue(spark: SparkSession) -> None:
    null, bad = rescued(spark, SCALARS, [None, b'{"b":"x","z":1}'])
    assert null == (None, None)
    assert bad == (None, 'b: expected INT, found "x"')


@pytest.mark.parametrize("ddl", [SCALARS, NESTED, DEEP])
@some
@given(seed=st.integers(0, 2**32))
def test_it_is_exact(spark: SparkSession, ddl: str, seed: int) -> None:
    values = records(seed, 1000)
    seen = 0
    for value, (text, error) in zip(values, rescued(spark, ddl, values), strict=True):
        if error is None:
            seen += text is not None
            assert members(text) == reference(value, ddl), value
        else:
            assert text is None
            assert isinstance(decode(value, ddl), Undecodable), value
    assert seen > 50
