"""What functions of derived columns make of single values, and the recipes of docs/tables.md."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.columns.columns import parse_columns
from sluice.derived.derived_columns import derived_columns
from sluice.lake.decoding.column_types import struct_type

from tests.decoding.derived_values import Value, given, micros, plain
from tests.unit.sources import ROOT

pytestmark = pytest.mark.spark

PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
AT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
LOG = '{"log.level": "warn", "event-type": 2, "a": [{"b": 3}, {"b": 4}], "*x": 5, "x y": 6}'

MOMENTS: list[Value] = [
    ("timestamp_seconds(x)", "BIGINT", 1_700_000_000, AT),
    ("timestamp_seconds(x)", "SMALLINT", -1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ("timestamp_seconds(x)", "BIGINT", 253_402_300_799, LAST.replace(microsecond=0)),
    ("timestamp_seconds(x)", "BIGINT", 253_402_300_800, None),
    ("timestamp_seconds(x)", "BIGINT", -62_135_596_800, FIRST),
    ("timestamp_seconds(x)", "BIGINT", -62_135_596_801, None),
    ("timestamp_seconds(x)", "BIGINT", 2**63 - 1, None),
    ("timestamp_seconds(x)", "DOUBLE", 1_700_000_000.5, AT.replace(microsecond=500_000)),
    ("timestamp_seconds(x)", "DOUBLE", 253_402_300_800.0, None),
    ("timestamp_seconds(x)", "DOUBLE", 1e300, None),
    ("timestamp_seconds(x)", "DOUBLE", float("nan"), None),
    ("timestamp_seconds(x)", "DOUBLE", float("-inf"), None),
    ("timestamp_seconds(x)", "DECIMAL(38,6)", Decimal("253402300799.999999"), LAST),
    ("timestamp_seconds(x)", "DECIMAL(38,6)", Decimal("9" * 32), None),
    (
        "timestamp_seconds(x)",
        "DECIMAL(10,2)",
        Decimal("-0.25"),
        datetime(1969, 12, 31, 23, 59, 59, 750_000, tzinfo=UTC),
    ),
    ("timestamp_millis(x)", "BIGINT", 1_700_000_000_123, AT.replace(microsecond=123_000)),
    ("timestamp_millis(x)", "BIGINT", 253_402_300_799_999, LAST.replace(microsecond=999_000)),
    ("timestamp_millis(x)", "BIGINT", 253_402_300_800_000, None),
    ("timestamp_millis(x)", "BIGINT", -(2**63), None),
    ("timestamp_micros(x)", "BIGINT", 1_700_000_000_123_456, AT.replace(microsecond=123_456)),
    ("timestamp_micros(x)", "BIGINT", 253_402_300_799_999_999, LAST),
    ("timestamp_micros(x)", "BIGINT", 253_402_300_800_000_000, None),
    ("timestamp_micros(x)", "BIGINT", -62_135_596_800_000_001, None),
    (
        "timestamp_micros(x DIV 1000)",
        "BIGINT",
        1_700_000_000_123_456_789,
        AT.replace(microsecond=123_456),
    ),
    ("date_from_unix_date(x)", "INT", 19_675, date(2023, 11, 14)),
    ("date_from_unix_date(x)", "INT", 2_932_896, date(9999, 12, 31)),
    ("date_from_unix_date(x)", "INT", 2_932_897, None),
    ("date_from_unix_date(x)", "INT", -719_162, date(1, 1, 1)),
    ("date_from_unix_date(x)", "INT", -719_163, None),
    ("date_from_unix_date(x)", "INT", None, None),
]
TIMES: list[Value] = [
    ("try_cast(x AS TIMESTAMP)", "STRING", "2023-11-14T22:13:20Z", AT),
    ("try_cast(x AS TIMESTAMP)", "STRING", " 2023-11-14 23:13:20+01 ", AT),
    ("try_cast(x AS TIMESTAMP)", "STRING", "2023-11-14T19:13:20-0300", AT),
    ("try_cast(x AS TIMESTAMP)", "STRING", "2023-11-14", datetime(2023, 11, 14, tzinfo=UTC)),
    ("try_cast(x AS TIMESTAMP)", "STRING", "2023", datetime(2023, 1, 1, tzinfo=UTC)),
    ("try_cast(x AS TIMESTAMP)", "STRING", "22:13", None),
    ("try_cast(x AS TIMESTAMP)", "STRING", "T22:13:20Z", None),
    ("try_cast(x AS TIMESTAMP)", "STRING", "9999-12-31T23:00:00-05:00", None),
    (
        "try_to_timestamp(x, \"yyyy-MM-dd'T'HH:mmX\")",
        "STRING",
        "2023-11-14T22:13Z",
        AT.replace(second=0),
    ),
    ("try_to_timestamp(x, 'dd MMM yyyy HH:mm:ss XX')", "STRING", "14 Nov 2023 22:13:20 +0000", AT),
    (
        "try_to_timestamp(substring(x, 6), \"d MMM yyyy HH:mm:ss 'GMT'\")",
        "STRING",
        "Tue, 14 Nov 2023 22:13:20 GMT",
        AT,
    ),
    ("try_to_timestamp(x, 'yyyy-MM-dd')", "STRING", "2023-02-30", None),
    ("try_to_timestamp(x, 'yyyy-MM-dd')", "STRING", "+20231-01-01", None),
    ("try_to_date(x, 'd/M/yyyy')", "STRING", "4/11/2023", date(2023, 11, 4)),
    ("try_to_date(x, 'd/M/yyyy')", "STRING", "31/2/2023", None),
    ("try_to_date(x, 'yyyy-MM-dd')", "STRING", "+5999999-01-01", None),
    ("try_to_timestamp(x, 'yyyy-MM-dd')", "STRING", "-999999999-01-01", None),
]
TEXTS: list[Value] = [
    ("decode(x, 'ISO-8859-1')", "BINARY", bytes(range(256)), bytes(range(256)).decode("latin-1")),
    ("decode(x, 'utf-8')", "BINARY", "é🙂".encode(), "é🙂"),
    ("decode(x, 'UTF-8')", "BINARY", b"Jos\xe9", None),
    ("decode(x, 'UTF-8')", "BINARY", b"\xed\xa0\x80", None),
    ("decode(x, 'US-ASCII')", "BINARY", b"Jose\0", "Jose\0"),
    ("decode(x, 'US-ASCII')", "BINARY", b"Jos\xe9", None),
    ("decode(x, 'UTF-16BE')", "BINARY", "é🙂".encode("utf-16-be"), "é🙂"),
    ("decode(x, 'UTF-16LE')", "BINARY", "é🙂".encode("utf-16-le"), "é🙂"),
    ("decode(x, 'UTF-16')", "BINARY", "\ufeffé".encode("utf-16-le"), "é"),
    ("decode(x, 'UTF-16')", "BINARY", "é".encode("utf-16-be"), "é"),
    ("decode(x, 'UTF-16BE')", "BINARY", b"\xd8\x00", None),
    ("decode(x, 'UTF-16LE')", "BINARY", b"\x00\xdca\x00", None),
    ("decode(x, 'UTF-16')", "BINARY", b"\x00a\x00", None),
    ("decode(x, 'UTF-16')", "BINARY", None, None),
    ("unbase64(x)", "STRING", "YWI=", b"ab"),
    ("unbase64(x)", "STRING", "YQ", b"a"),
    ("unbase64(x)", "STRING", "Y\nWI=", b"ab"),
    ("unbase64(x)", "STRING", "a", None),
    ("unbase64(x)", "STRING", "!!!", None),
    ("unbase64(translate(x, '-_', '+/'))", "STRING", "-_8=", b"\xfb\xff"),
    ("try_to_binary(x, 'base64')", "STRING", "-_8=", None),
    ("try_to_binary(x, 'hex')", "STRING", "C3a9", b"\xc3\xa9"),
    ("try_to_binary(x, 'hex')", "STRING", "zz", None),
]
PATHS: list[Value] = [
    ("get_json_object(x, \"$['log.level']\")", "STRING", LOG, "warn"),
    ("get_json_object(x, '$.event-type')", "STRING", LOG, "2"),
    ("get_json_object(x, '$.a[0].b')", "STRING", LOG, "3"),
    ("get_json_object(x, '$.a[*].b')", "STRING", LOG, "[3,4]"),
    ("get_json_object(x, \"$['*x']\")", "STRING", LOG, "5"),
    ("get_json_object(x, '$.x y')", "STRING", LOG, "6"),
    ("get_json_object(x, '$[1]')", "STRING", "[1, 2]", "2"),
    ("get_json_object(x, '$[*]')", "STRING", "[1, 2]", "[1,2]"),
    ("get_json_object(x, '$[999999999]')", "STRING", "[1, 2]", None),
    ("get_json_object(x, '$.a')", "STRING", "{", None),
    ("from_json(x, 'a ARRAY<STRUCT<b: INT>>').a", "STRING", LOG, [(3,), (4,)]),
    ("from_json(x, '`log.level` STRING').`log.level`", "STRING", LOG, "warn"),
    ("from_json(x, 'ARRAY<INT>')", "STRING", "[1, 2]", [1, 2]),
    ("from_json(x, 'ARRAY<INT>')", "STRING", '[1, "2"]', None),
    ("from_json(x, 'ARRAY<INT>')", "STRING", '{"a": 1}', None),
    ("from_json(x, 'a INT, b STRING')", "STRING", '{"a": "x", "b": {"c": 15}}', (None, '{"c":15}')),
    (
        "from_json(x, 'a STRING')",
        "STRING",
        '{"a": 12345678901234567.5}',
        ("1.2345678901234568E16",),
    ),
    ("get_json_object(x, '$.a')", "STRING", '{"a": 12345678901234567.5}', "1.2345678901234568E16"),
    ("from_json(x, 'ARRAY<STRUCT<a: INT>>')", "STRING", '{"a": 1}', [(1,)]),
    ("from_json(x, 'a INT, b STRING')", "STRING", '{"a": 1e1, "B": "y"}', (None, None)),
    ("from_json(x, 'a BIGINT')", "STRING", '{"a": 9223372036854775808}', (None,)),
    ("from_json(x, 'a DOUBLE')", "STRING", '{"a": "NaN"}', (None,)),
    ("from_json(x, 'a INT')", "STRING", "[1]", (None,)),
    ("from_json(x, 'a INT')", "STRING", '{"a": 1', None),
    ("from_json(x, 'a INT')", "STRING", '{"a": 1, "a": 2}', None),
    ("from_json(x, 'a INT')", "STRING", "{'a': 1}", None),
    ("from_json(x, 'a STRING')", "STRING", '{"a": "\\ud800"}', None),
    ("from_json(x, 'a STRING')", "STRING", '{"a": "\\u00e9"}', ("é",)),
    ("from_json(x, 'a INT')", "STRING", "", None),
]


@pytest.mark.parametrize(
    "values",
    [MOMENTS, TIMES, TEXTS, PATHS],
    ids=["moments", "times", "texts", "paths"],
)
def test_a_function_gives_what_is_expected_of_each_value(
    spark: SparkSession, values: list[Value]
) -> None:
    found = [(*value[:3], it) for value, it in zip(values, given(spark, values), strict=True)]
    assert found == [(*value[:3], micros(value[3])) for value in values]


def recipe(title: str) -> dict[str, Any]:
    block = re.search(rf"\*\*{title}\*\*.*?```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    found = yaml.safe_load(block[1])
    assert isinstance(found, dict)
    return found


def played(spark: SparkSession, keys: dict[str, Any], values: list[Any]) -> list[dict[str, Any]]:
    """The columns of a recipe, for records with these fields."""
    columns = (*parse_columns(keys["format"].get("schema", "value BINARY")),)
    found = derived_columns(keys["derived"], columns)
    rows = spark.createDataFrame(values, struct_type(columns)).localCheckpoint()
    kept = rows.select(*(plain(each).alias(each.name) for each in found)).collect()
    return [row.asDict() for row in kept]


def test_the_recipe_of_numbers_that_are_moments(spark: SparkSession) -> None:
    record = (1_700_000_000, 1_700_000_000_123, 1_700_000_000_123_456_789, 19_675, "1700000000123")
    before = (-1, -1, -1_001, -1, "-1")
    row, earlier = played(spark, recipe("A number is a moment"), [record, before])
    second = micros(AT)
    assert row == {
        "at": second,
        "sent": second + 123_000,
        "measured": second + 123_456,
        "born": date(2023, 11, 14),
        "seen": second + 123_000,
    }
    assert earlier["measured"] == -2


def test_the_recipe_of_texts_in_latin_1(spark: SparkSession) -> None:
    keys = recipe("Text in ISO-8859-1")
    values = [b'{"id":1,"name":"Jos\xe9"}', '{"id": 2, "name": "José"}'.encode(), b"\xff"]
    rows = played(spark, keys, [(value,) for value in values])
    assert [tuple(row.values()) for row in rows] == [(1, "José"), (2, "José"), (None, None)]


def test_the_recipe_of_a_variant(spark: SparkSession) -> None:
    keys = recipe(r"A VARIANT is a JSON value of any shape\.")
    text = '{"amount": 1.505, "skus": ["a", 2], "at": "2023-11-14T22:13:20Z"}'
    row, other = played(spark, keys, [(1, text), (2, "22:13")])
    assert json.loads(row.pop("document").toJson()) == json.loads(text)
    assert row == {"amount": Decimal("1.51"), "skus": ["a", "2"], "ordered": micros(AT)}
    assert {*other.values()} == {None}


def test_a_text_with_a_day_is_a_moment_as_spark_reads_it(spark: SparkSession) -> None:
    days = ["2023", "2023-1", "2023-11-14", "0001-01-01", "9999-12-31", "+2023-01-01", "2023-13-01"]
    times = ["", "T", " ", "T1", "T22:13", " 22:13:20.5", "T22:13:20Z", " 1:2:3 +1:00", "T25:00"]
    texts = [day + time for day in days for time in times]
    rows = spark.createDataFrame([(text,) for text in texts], "t STRING").localCheckpoint()
    (mine,) = derived_columns({"mine": "try_cast(t AS TIMESTAMP)"}, parse_columns("t STRING"))
    different = ~F.expr(mine.sql).eqNullSafe(F.expr("try_cast(t AS TIMESTAMP)"))
    assert rows.where(different).collect() == []
    assert rows.where(F.expr(mine.sql).isNotNull()).count() > 20
