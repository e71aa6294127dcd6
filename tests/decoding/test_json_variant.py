"""A VARIANT holds what JSON says, to the digit, whatever its shape; what it cannot hold is told."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import VariantVal
from sluice.lake.decoding.decode import DECODED, decoder
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.spec_file.formats import JsonFormat

from tests.decoding.json_records import values
from tests.decoding.reference_json_text import Misfit, one_value
from tests.decoding.reference_variant import Variant

pytestmark = pytest.mark.spark

NO_NUMBER = "expected a number of at most 38 digits without exponent, or of a DOUBLE, for VARIANT"
DEEP, DEEP_OBJECTS = b"[" * 500 + b"]" * 500, b'{"a":' * 500 + b"1" + b"}" * 500
TOO_DEEP = "expected a VARIANT of at most 500 levels, found more"


def found(
    spark: SparkSession, values: Sequence[bytes | None], schema: str = "value VARIANT", **more: Any
) -> list[Any]:
    """Of each record its columns' values, or the error."""
    form = JsonFormat.model_validate({"type": "json", "schema": schema, **more})
    rows = [(n, None if each is None else bytearray(each)) for n, each in enumerate(values)]
    decoded = decoder(form, "value", {})(spark.createDataFrame(rows, "place INT, value BINARY"))
    columns = decoded.select("place", f"{DECODED['value']}.*").orderBy("place").collect()
    return [
        f"misfit: {row[ERROR]}"
        if row[ERROR] is not None
        else [read(row[each.name]) for each in form.columns]
        for row in columns
    ]


def read(value: Any) -> Any:
    """A column's value; a VARIANT in it as the reference reads it."""
    match value:
        case VariantVal():
            return Variant.read(value.value, value.metadata)
        case list():
            return [read(each) for each in value]
        case dict():
            return {name: read(each) for name, each in value.items()}
        case Row():
            return tuple(read(each) for each in value)
    return value


TOLD: dict[bytes, Any] = {
    b'{"b": [1, -128, 32768, 9223372036854775807], "a": {"c": null}}': {
        "b": [1, -128, 32768, 2**63 - 1],
        "a": {"c": None},
    },
    b"9223372036854775808": Decimal(2**63),
    b"9" * 38: Decimal("9" * 38),
    b"-0." + b"9" * 38: Decimal("-0." + "9" * 38),
    b"1.50": Decimal("1.50"),
    b"1e2": 100.0,
    b"-1.7976931348623157E308": -1.7976931348623157e308,
    b"5e-324": 5e-324,
    b"0e999999999": 0.0,
    b"1" + b"0" * 50: 1e50,
    b"0." + b"0" * 50 + b"1": 1e-51,
    b'{"a": 1, "b": 2, "a": "last"}': {"a": "last", "b": 2},
    b'[{"a": {"n": 1e999}, "a": "last"}]': [{"a": "last"}],
    b'{"": {}, "a b": [], "\\u00e9": "\\ud83d\\ude00"}': {"": {}, "a b": [], "é": "\U0001f600"},
    b'"' + b"x" * 100 + b'"': "x" * 100,
    b"[" + b",".join([b"true"] * 300) + b"]": [True] * 300,
    b"null": None,
    b"false": False,
}


def test_a_record_of_any_shape_is_a_variant(spark: SparkSession) -> None:
    seen = found(spark, [*TOLD, None])
    assert seen[:-1] == [[Variant(each)] for each in TOLD.values()]
    assert seen[-1] == [None], "a tombstone has no value"


@pytest.mark.parametrize(
    "number",
    [b"1" * 39, b"1e400", b"-1E+309", b"1e-400", b"123456789012345678e2", b"0." + b"1" * 40],
)
def test_a_number_that_would_lose_digits_is_told(spark: SparkSession, number: bytes) -> None:
    whole, within = (
        found(spark, [b'{"a": [0, ' + number + b', {"b": 1}], "c": 2}'], schema)[0]
        for schema in ("value VARIANT", "a VARIANT, c INT")
    )
    assert whole == f"misfit: {NO_NUMBER}, found {number.decode()}"
    assert within == f"misfit: a: {NO_NUMBER}, found {number.decode()}"


def test_a_number_of_a_million_digits_takes_no_time(spark: SparkSession) -> None:
    (one,) = found(spark, [b"9" * 1_000_000])
    assert one.startswith(f"misfit: {NO_NUMBER}, found 999")


def test_a_column_is_null_where_json_is(spark: SparkSession) -> None:
    schema = "id INT, v VARIANT, l ARRAY<VARIANT>, m MAP<STRING, VARIANT>, s STRUCT<v: VARIANT>"
    seen = found(
        spark,
        [
            b'{"id": 1, "v": null, "l": [1, null, "x"], "m": {"a": {"b": 1}}, "s": {"v": []}}',
            b'{"id": 2, "v": [null, {"n": null}]}',
            b'{"v": 1, "v": {"last": true}}',
            b'{"v": 1e999, "v": "of a name that is repeated only the last counts"}',
        ],
        schema,
    )
    one, null, x = Variant(1), Variant([None, {"n": None}]), Variant("x")
    assert seen[0] == [1, None, [one, None, x], {"a": Variant({"b": 1})}, (Variant([]),)]
    assert seen[1][:2] == [2, null]
    assert seen[2][1] == Variant({"last": True})
    assert seen[3][1] == Variant("of a name that is repeated only the last counts")


def test_the_deepest_value_is_read_and_a_deeper_one_is_told(spark: SparkSession) -> None:
    deepest = [DEEP, DEEP_OBJECTS]
    seen = found(spark, [*deepest, *(b"[" + each + b"]" for each in deepest), b"[" * 1001])
    assert seen[:2] == [[Variant.of(one_value(each))] for each in deepest]
    assert seen[2:4] == [f"misfit: {TOO_DEEP}"] * 2
    assert seen[4].startswith("misfit: not one JSON value")
    beyond = b'{"v": ' + b"[" * 501 + b"]" * 501 + b', "id": 1, "v": 2}'
    assert found(spark, [beyond], "id INT, v VARIANT") == [[1, Variant(2)]]


def test_a_text_that_holds_json_is_a_text_unless_at_says_where(spark: SparkSession) -> None:
    value = b'{"payload": "{\\"a\\": [1.0]}"}'
    assert found(spark, [value], "payload VARIANT") == [[Variant('{"a": [1.0]}')]]
    assert found(spark, [value], at="$.payload") == [[Variant({"a": [Decimal("1.0")]})]]


def test_connects_wrapper_is_not_part_of_it(spark: SparkSession) -> None:
    values = [
        b'{"schema": {"type": "struct", "fields": []}, "payload": {"a": 1}}',
        b'{"a": 1}',
        b"[1]",
        b"null",
    ]
    one, bare, array, none = found(spark, values, envelope="connect")
    assert one == bare == [Variant({"a": 1})]
    assert (array, none) == ([Variant([1])], [None])


@settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6))
def test_spark_gives_the_verdict_of_the_reference(spark: SparkSession, seed: int) -> None:
    sent = values(seed, 300)
    for value, outcome in zip(sent, found(spark, sent), strict=True):
        try:
            expected = Variant.of(one_value(value))
        except Misfit:
            assert isinstance(outcome, str), value
        else:
            assert outcome == [expected], value
