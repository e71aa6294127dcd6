"""Confluent's decimals, Google's dates and amounts of money, as the columns of their names."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.protobuf_decoding import decoded_protobuf
from tests.worlds.protobuf_schemas import message_class

pytestmark = pytest.mark.spark

SOURCE = """
syntax = "proto3"; package p; import "confluent/meta.proto"; import "confluent/type/decimal.proto";
import "google/type/date.proto"; import "google/type/money.proto";
message M {
  confluent.type.Decimal d = 1 [(confluent.field_meta) = {params: [
    {key: "precision", value: "6"}, {key: "scale", value: "2"}]}];
  confluent.type.Decimal t = 2; google.type.Date day = 3; google.type.Money paid = 4;
  repeated google.type.Date days = 5; map<string, confluent.type.Decimal> by = 6;
}
"""
M = message_class(SOURCE, "p.M")


def of(number: str) -> dict[str, Any]:
    """As Confluent's clients write it."""
    sign, digits, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    value = unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
    return {"value": value, "precision": len(digits), "scale": -exponent}


def test_values_arrive(spark: SparkSession) -> None:
    made = M(
        d=of("12.50"),
        t=of("-12.50"),
        day={"year": 2023, "month": 11, "day": 14},
        paid={"currency_code": "EUR", "units": -1, "nanos": -750_000_000},
        days=[{"year": 1, "month": 1, "day": 1}, {"year": 9999, "month": 12, "day": 31}],
        by={"a": of("1E-8"), "b": of("12E+2"), "c": {}},
    )
    values = [made.SerializeToString(), b"", M(d={}, paid={}).SerializeToString()]
    whole, unset, zero = decoded_protobuf(spark, SOURCE, "p.M", values)
    assert whole == {
        "d": Decimal("12.50"),
        "t": "-12.50",
        "day": date(2023, 11, 14),
        "paid": {"currency_code": "EUR", "amount": Decimal("-1.750000000")},
        "days": [date(1, 1, 1), date(9999, 12, 31)],
        "by": [("a", "1E-8"), ("b", "1.2E+3"), ("c", "0")],
    }
    nothing: dict[str, Any] = {
        "d": None,
        "t": None,
        "day": None,
        "paid": None,
        "days": [],
        "by": [],
    }
    assert unset == nothing
    amount = {"currency_code": "", "amount": Decimal(0)}
    assert zero == {**nothing, "d": Decimal(0), "paid": amount}


@pytest.mark.parametrize("number", ["12.500", "1E+3", "-9999.99", "0E-9", "0.01"])
def test_any_scale_of_a_number_that_fits_is_exact(spark: SparkSession, number: str) -> None:
    (found,) = decoded_protobuf(spark, SOURCE, "p.M", [M(d=of(number)).SerializeToString()])
    assert isinstance(found, dict)
    assert found["d"] == Decimal(number)


MISFITS = [
    (M(d=of("12.505")), "d: expected DECIMAL(6,2), found 12.505"),
    (M(d=of("12345.6")), "d: expected DECIMAL(6,2), found 12345.6"),
    (M(d={"value": b"\1", "scale": -(2**31)}), "d: expected DECIMAL(6,2), found 1E+2147483648"),
    (M(d={"value": b"\1", "scale": 2**31 - 1}), "d: expected DECIMAL(6,2), found 1E-2147483647"),
    (M(t={"value": b"\1" * 1001}), "t: expected a decimal, found one of 1001 bytes"),
    (
        M(day={"year": 2023}),
        'day: expected DATE, found {"year":2023,"month":0,"day":0}',
    ),
    (
        M(days=[{"year": 2023, "month": 2, "day": 29}]),
        'days[0]: expected DATE, found {"year":2023,"month":2,"day":29}',
    ),
    (
        M(day={"year": 10000, "month": 1, "day": 1}),
        'day: expected DATE, found {"year":10000,"month":1,"day":1}',
    ),
    (
        M(paid={"units": 1, "nanos": -1}),
        'paid.amount: expected DECIMAL(28,9), found {"units":1,"nanos":-1}',
    ),
    (
        M(paid={"nanos": 10**9}),
        'paid.amount: expected DECIMAL(28,9), found {"units":0,"nanos":1000000000}',
    ),
]


def test_a_value_that_does_not_fit_says_where_expected_and_found(spark: SparkSession) -> None:
    bare = [b"\x22\x03\x0a\x01\xff", b"\x1a\x03\x0a\x01x"]
    values = [*(made.SerializeToString() for made, _ in MISFITS), *bare]
    assert decoded_protobuf(spark, SOURCE, "p.M", values) == [
        *(told for _, told in MISFITS),
        'paid.currency_code: expected STRING, found "�"',
        "day.year: expected INT, found a value of wire type 2",
    ]
