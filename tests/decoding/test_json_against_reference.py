"""Random records, decoded by Spark and by the reference: they have to agree on every one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.decoding import reference_json
from tests.decoding.decoding import decoded
from tests.decoding.json_records import records
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark

SCALARS = (
    "a STRING, b INT, c BIGINT, d DOUBLE, e BOOLEAN, f FLOAT, g TIMESTAMP, h DATE, i BINARY, "
    "j TINYINT, k SMALLINT"
)
DECIMALS = f"{SCALARS}, m DECIMAL(6,2), n DECIMAL(38,10)"
NESTED = f"{SCALARS}, m MAP<STRING, INT>, n STRUCT<a: STRING, g: TIMESTAMP>, o ARRAY<STRING>"
NESTED_DECIMALS = (
    "a STRING, b ARRAY<DECIMAL(5,2)>, c MAP<STRING, STRING>, d STRUCT<a: DECIMAL(4,1)>"
)

some = settings(
    max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("unit", [None, "ms"])
@pytest.mark.parametrize("ddl", [SCALARS, DECIMALS, NESTED, NESTED_DECIMALS])
@some
@given(seed=st.integers(0, 2**32))
def test_spark_decodes_as_the_reference_does(
    spark: SparkSession, ddl: str, unit: str | None, seed: int
) -> None:
    values = records(seed, 1500)
    found = decoded(spark, ddl, values, unit)
    for value, ours in zip(values, found, strict=True):
        reference = reference_json.decode(value, ddl, timestamp_unit=unit)
        assert _same(ours, reference), f"{value!r}: {ours}, expected {reference}"


def _same(ours: object, reference: object) -> bool:
    both = isinstance(ours, Undecodable) and isinstance(reference, Undecodable)
    return both or ours == reference
