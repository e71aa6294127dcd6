"""Random records, decoded by Spark and by the reference: they have to agree on every one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.decoding import reference_json
from tests.decoding.decoding import Table, decoded_tables
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


KINDS = [*product((SCALARS, DECIMALS, NESTED, NESTED_DECIMALS), (None, "ms"))]


@some
@given(seed=st.integers(0, 2**32))
def test_spark_decodes_as_the_reference_does(spark: SparkSession, seed: int) -> None:
    """Each schema has records of its own; all are decoded in one job."""
    tables = [Table(ddl, records(seed + n, 1500), unit) for n, (ddl, unit) in enumerate(KINDS)]
    for table, found in zip(tables, decoded_tables(spark, tables), strict=True):
        for value, ours in zip(table.values, found, strict=True):
            reference = reference_json.decode(value, table.ddl, timestamp_unit=table.unit)
            told = f"{value!r} as {table.ddl}, {table.unit}: {ours}, expected {reference}"
            assert _same(ours, reference), told


def _same(ours: object, reference: object) -> bool:
    both = isinstance(ours, Undecodable) and isinstance(reference, Undecodable)
    return both or ours == reference
