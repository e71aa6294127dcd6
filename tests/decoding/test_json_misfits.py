"""An error of a JSON record says where the misfit is, what was expected and what was found."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from sluice.offsets.quarantined import error_pattern

from tests.decoding.decoding import decoded
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark

DDL = (
    "b INT, d DOUBLE, t TIMESTAMP, p DECIMAL(5,2), s STRUCT<t: STRUCT<day: DATE>, `q-x`: INT>, "
    "a ARRAY<STRUCT<n: TINYINT>>, m MAP<STRING, ARRAY<BOOLEAN>>, x BINARY"
)
LONG = "é" * 150
# The record, its error, and the cause that it is counted under.
TOLD = [
    ('{"d":"abc"}', 'd: expected DOUBLE, found "abc"', "d: expected DOUBLE, found '…'"),
    ('{"b":1.50}', "b: expected INT, found 1.50", "b: expected INT, found N"),
    ('{"b":1e5}', "b: expected INT, found 1e5", "b: expected INT, found N"),
    ('{"b":true}', "b: expected INT, found true", "b: expected INT, found true"),
    (
        '{"p":1.505,"d":""}',
        'd: expected DOUBLE, found ""',
        "d: expected DOUBLE, found '…'",
    ),
    (
        '{"p":1.505}',
        "p: expected DECIMAL(5,2), found 1.505",
        "p: expected DECIMAL(5,2), found N",
    ),
    (
        r'{"x":"q\"\n\u0001é, found 5"}',
        r'x: expected BINARY, found "q\"\n\u0001é, found 5"',
        "x: expected BINARY, found '…'",
    ),
    (
        '{"t": { "k" : [1.0, "x", null] } }',
        't: expected TIMESTAMP, found {"k":[1.0,"x",null]}',
        "t: expected TIMESTAMP, found {…}",
    ),
    ('{"s":[1]}', "s: expected STRUCT, found [1]", "s: expected STRUCT, found […]"),
    (
        '{"s":{"t":{"day":"2013-02-30"},"q-x":"y"}}',
        's.t.day: expected DATE, found "2013-02-30"',
        "s.t.day: expected DATE, found '…'",
    ),
    ('{"s":{"q-x":2147483648}}', "s.q-x: expected INT, found 2147483648", None),
    ('{"s":{"t":"y"}}', 's.t: expected STRUCT, found "y"', None),
    (
        '{"a":[{"n":1},null,{"n":128},{"n":"x"}]}',
        "a[2].n: expected TINYINT, found 128",
        "a[N].n: expected TINYINT, found N",
    ),
    ('{"a":{}}', "a: expected ARRAY<STRUCT>, found {}", None),
    (
        '{"m":{"k 1":[true],"k":[true,0],"k":[null,"y"]}}',
        'm["k"][1]: expected BOOLEAN, found "y"',
        "m['…'][N]: expected BOOLEAN, found '…'",
    ),
    (f'{{"m":{{"{LONG}":[0]}}}}', f'm["{LONG[:99]}…"][0]: expected BOOLEAN, found 0', None),
    ('{"m":7}', "m: expected MAP<STRING, ARRAY<BOOLEAN>>, found 7", None),
    (f'{{"d":"{LONG}"}}', f'd: expected DOUBLE, found "{LONG[:99]}…"', None),
    (f'{{"d":{"9" * 400}}}', f"d: expected DOUBLE, found {'9' * 100}…", None),
    (f'{{"d":["{LONG}"]}}', f'd: expected DOUBLE, found ["{LONG[:98]}…', None),
]


def test_the_error_says_where_expected_and_found(spark: SparkSession) -> None:
    found = decoded(spark, DDL, [record.encode() for record, _, _ in TOLD])
    assert found == [Undecodable(error) for _, error, _ in TOLD]


@pytest.mark.parametrize(("_", "error", "cause"), [each for each in TOLD if each[2]])
def test_errors_of_equal_causes_count_together(_: str, error: str, cause: str) -> None:
    assert error_pattern(error) == cause
