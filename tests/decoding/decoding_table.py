"""Tables of records and what they decode to, checked with Spark and with the reference."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from tests.decoding import reference_json
from tests.decoding.decoding import decoded
from tests.decoding.reference_json import Undecodable

NO = object()  # undecodable


def assert_decodes(
    spark: SparkSession, ddl: str, table: dict[bytes | str, Any], unit: str | None = None
) -> None:
    """Every value of the table, in one Spark job; the reference has to agree as well."""
    values = [each.encode() if isinstance(each, str) else each for each in table]
    found = decoded(spark, ddl, values, unit)
    for value, expected, ours in zip(values, table.values(), found, strict=True):
        reference = reference_json.decode(value, ddl, timestamp_unit=unit)
        for who, outcome in (("Spark", ours), ("reference", reference)):
            told = f"{who}: {value[:100]!r} gave {str(outcome)[:200]}"
            if expected is NO:
                assert isinstance(outcome, Undecodable), told
            else:
                assert isinstance(outcome, dict), told
                assert {k: v for k, v in outcome.items() if v is not None} == expected, told


def of_field(values: dict[str, Any], name: str = "x") -> dict[bytes | str, Any]:
    """The table of records `{"x": …}`; None expects a null."""
    return {
        f'{{"{name}":{text}}}': NO if each is NO else {} if each is None else {name: each}
        for text, each in values.items()
    }
