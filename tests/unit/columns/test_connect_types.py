"""Types that Connect and Debezium name, and the columns that these mean."""

from __future__ import annotations

from typing import Any

import pytest
from sluice.columns.columns import Decimal, Primitive
from sluice.columns.connect_types import connect_type

DECIMAL = "org.apache.kafka.connect.data.Decimal"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("io.debezium.time.Date", "DATE"),
        ("org.apache.kafka.connect.data.Date", "DATE"),
        ("io.debezium.time.MicroTimestamp", "TIMESTAMP"),
        ("io.debezium.time.ZonedTimestamp", "TIMESTAMP"),
        ("io.debezium.time.NanoTime", "STRING"),
        ("io.debezium.data.VariableScaleDecimal", "STRING"),
    ],
)
def test_a_name_means_a_column(name: str, column: str) -> None:
    found = connect_type(name, None)
    assert found is not None
    assert (found.column, found.scale) == (Primitive(column), 0)


@pytest.mark.parametrize("name", ["io.debezium.data.Json", "Decimal", "", None, 5])
def test_other_names_mean_none(name: Any) -> None:
    assert connect_type(name, {"scale": "2"}) is None


@pytest.mark.parametrize(
    ("parameters", "column"),
    [
        ({"scale": "2"}, Decimal(38, 2)),
        ({"scale": "2", "connect.decimal.precision": "10"}, Decimal(10, 2)),
        ({"scale": "2", "connect.decimal.precision": "64"}, Decimal(38, 2)),
        ({"scale": "5", "connect.decimal.precision": "3"}, Decimal(5, 5)),
        ({"scale": "0", "connect.decimal.precision": "0"}, Decimal(1, 0)),
    ],
)
def test_a_decimal_has_the_digits_of_its_schema(parameters: Any, column: Decimal) -> None:
    found = connect_type(DECIMAL, parameters)
    assert found is not None
    assert found.column == column


@pytest.mark.parametrize("parameters", [None, {}, {"scale": "-1"}, {"scale": "39"}, {"scale": "x"}])
def test_a_decimal_that_no_column_has_is_none(parameters: Any) -> None:
    assert connect_type(DECIMAL, parameters) is None
