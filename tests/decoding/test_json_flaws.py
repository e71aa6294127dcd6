"""The JVM's decoder and `sluice peek` give one reason for one record."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from sluice.schemas.inference import parse_object

from tests.decoding.decoding import Outcome, decoded
from tests.decoding.json_records import records
from tests.decoding.reference_json import Undecodable
from tests.worlds.named_values import REASONS

pytestmark = pytest.mark.spark

SMALL = st.text("{}[]:,\"'\\ \t0-.eENaInltruefs/x", max_size=12).map(str.encode)
HEX = b'\x00\x01\x03\x05\x1f\x7f\x80\x8b\x9f\xa0\xbf\xc2\xc3\xe2\xed\xef\xf4\xfe\xff{}[]"1a '
BYTES = st.lists(st.sampled_from(HEX), max_size=20).map(bytes)


def test_the_reason_names_the_flaw_and_its_byte(spark: SparkSession) -> None:
    found = dict(zip(REASONS, decoded(spark, "id BIGINT", list(REASONS)), strict=True))
    assert found == {value: Undecodable(reason) for value, reason in REASONS.items()}


def told(value: bytes) -> Undecodable | None:
    try:
        parse_object(value)
    except ValueError as problem:
        return Undecodable(str(problem))
    return None


def flaw(found: Outcome) -> Undecodable | None:
    """Why a value is no object; that one has none of the fields is no flaw of it."""
    if isinstance(found, Undecodable) and "the declared fields" not in found.reason:
        return found
    return None


@settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.lists(SMALL | BYTES, min_size=800, max_size=800))
def test_both_give_one_reason(spark: SparkSession, seed: int, small: list[bytes]) -> None:
    values = [value for value in records(seed, 2_000) if value is not None] + small
    for value, found in zip(values, decoded(spark, "zz STRING", values), strict=True):
        assert flaw(found) == told(value), value
