"""What analysts read tables with: DuckDB, Polars, pandas and Spark read every type alike.

By the recipes of docs/tables.md, as they stand there.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from sluice.columns.columns import PRIMITIVES, parse_columns

from tests.decoding.reference_json import decode
from tests.worlds.engines import ALL, rows_by
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SCHEMA = """
    text STRING, flag BOOLEAN, tiny TINYINT, small SMALLINT, whole INT, big BIGINT, near FLOAT,
    real DOUBLE, price DECIMAL(5,2), exact DECIMAL(38,10), day DATE, moment TIMESTAMP, raw BINARY,
    texts ARRAY<STRING>, counts MAP<STRING, BIGINT>, part STRUCT<x: INT, y: STRING>,
    grid ARRAY<ARRAY<TINYINT>>, legs ARRAY<STRUCT<day: DATE, price: DECIMAL(5,2)>>,
    moments MAP<STRING, ARRAY<TIMESTAMP>>, sums STRUCT<a: DECIMAL(38,10), b: DECIMAL(5,2)>,
    files MAP<STRING, STRUCT<raw: BINARY, size: FLOAT>>
"""
SMALLEST = rb"""{
    "text": "caf\u00e9 \ud83d\ude00 \u0000", "flag": true, "tiny": -128, "small": -32768,
    "whole": -2147483648, "big": -9223372036854775808, "near": 1e-45, "real": 4.9e-324,
    "price": -999.99, "exact": -9999999999999999999999999999.9999999999, "day": "0001-01-01",
    "moment": "0001-01-01T00:00:00Z", "raw": "AP8=", "texts": ["", null, "\ud83d\ude00"],
    "counts": {"": -9223372036854775808, "\ud83d\ude00": null}, "part": {"x": 1, "y": ""},
    "grid": [[], null, [1, null]], "legs": [{"day": "9999-12-31", "price": 0.01}, null, {}],
    "moments": {"a": ["9999-12-31T23:59:59.999999Z", null], "b": [], "c": null},
    "sums": {"a": 0.0000000001}, "files": {"f": {"raw": "", "size": 0.1}, "g": null}}"""
LARGEST = rb"""{
    "text": "", "flag": false, "tiny": 127, "small": 32767, "whole": 2147483647,
    "big": 9223372036854775807, "near": 3.4028235e38, "real": 1.7976931348623157e308,
    "price": 999.99, "exact": 9999999999999999999999999999.9999999999, "day": "9999-12-31",
    "moment": "9999-12-31T23:59:59.999999Z", "raw": "", "texts": [], "counts": {}, "part": {},
    "grid": [], "legs": [], "moments": {}, "sums": {}, "files": {}}"""
ORDINARY = rb"""{
    "text": "NaN", "near": 0.1, "real": 0.1, "big": 9007199254740993, "day": "1582-10-10",
    "moment": "2013-01-01T05:00:00.000001Z", "counts": {"b": 1, "a": 2}, "new": [1.10]}"""
ZEROS = b"""{
    "text": "-Infinity", "near": -0.0, "real": -0.0, "price": 0, "exact": 0, "whole": 0}"""
VALUES = [SMALLEST, LARGEST, ORDINARY, ZEROS, b'{"text": null}', None]
KEYS = {
    "format": {"type": "json", "schema": SCHEMA},
    "key_format": {"type": "json", "schema": "id BIGINT"},
    "rescue": True,
    "derived": {
        "_day": "CAST(_timestamp AS DATE)",
        "_length": "char_length(text)",
        "_odd": "try_cast(text AS DOUBLE)",
    },
}
KEY, AT = b'{"id": 9223372036854775807}', 1_356_998_400_123
ODD = {"NaN": float("nan"), "-Infinity": float("-inf")}
HEADERS: list[dict[str, Any]] = [
    {"key": "h", "value": None},
    {"key": "", "value": b"\xff"},
    {"key": "h", "value": b""},
]


def landed(trips: Installed) -> Installed:
    """A column of every type, our own ones, and derived ones; all judged by the oracle."""
    name = trips.topics[0]
    produce(trips.bootstrap, name, VALUES, key=KEY, timestamp=AT)
    headers = [(each["key"], each["value"]) for each in HEADERS]
    produce(trips.bootstrap, name, VALUES, key=None, headers=headers, timestamp=AT)
    trips.run()
    assert trips.judge().facts.rows == 2 * len(VALUES)
    return trips


def expected(trips: Installed) -> list[dict[str, Any]]:
    """The rows, from what was sent."""
    rows = []
    for offset, value in enumerate(VALUES * 2):
        fields = decode(value, SCHEMA)
        assert isinstance(fields, dict)
        first = offset < len(VALUES)
        ours = {
            "_day": date(2013, 1, 1),
            "_length": None if fields["text"] is None else len(fields["text"]),
            "_odd": ODD.get(fields["text"]),
            "_topic": trips.topics[0],
            "_topic_id": trips.offsets("planned")[0]["topic_id"],
            "_partition": 0,
            "_offset": offset,
            "_timestamp": datetime(2013, 1, 1, 0, 0, 0, 123000, tzinfo=UTC),
            "_key": KEY if first else None,
            "_headers": None if first else HEADERS,
            "_tombstone": value is None,
            "_batch": "forward-1-1",
            "_key_id": 2**63 - 1 if first else None,
            "_rescued": '{"new":[1.10]}' if value is ORDINARY else None,
        }
        rows.append(fields | ours)
    return rows


def plain(found: Any, like: Any) -> Any:
    """A value that compares as exact and with its type; Arrow has a map as a list of pairs."""
    if isinstance(like, dict) and isinstance(found, list):
        found = dict(found)
    if isinstance(like, dict) and isinstance(found, dict):
        return {name: plain(each, like.get(name)) for name, each in found.items()}
    if isinstance(like, list) and isinstance(found, list) and len(like) == len(found):
        return [plain(*pair) for pair in zip(found, like, strict=True)]
    match found:
        case Decimal():
            return "exact", found.as_integer_ratio()
        case float():
            return "float", found.hex()
        case datetime():
            assert not found.utcoffset(), found
            return "moment", found.replace(tzinfo=None).isoformat(timespec="microseconds")
    return type(found), found


def test_every_type_of_a_spec_is_in_the_table() -> None:
    kinds = set(re.findall(r"[A-Z]+", " ".join(str(each.type) for each in parse_columns(SCHEMA))))
    # Of a VARIANT each engine makes something else: test_variant.
    assert kinds | {"VARIANT"} == {*PRIMITIVES.values(), "DECIMAL", "ARRAY", "MAP", "STRUCT"}


def test_every_engine_reads_every_value_as_it_was_sent(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    trips = landed(pipeline(topic(retention_ms=-1), **KEYS))
    rows = expected(trips)
    for engine in ALL:
        found = rows_by(engine, trips.data, spark)
        assert [plain(*pair) for pair in zip(found, rows, strict=True)] == [
            plain(sent, sent) for sent in rows
        ], engine
    what_the_page_warns_of(trips, spark)
    what_is_asked_for_by_its_last_moment(trips, spark)


def what_is_asked_for_by_its_last_moment(trips: Installed, spark: SparkSession) -> None:
    """A file's statistics have its last moment cut to milliseconds: no engine may skip it."""
    last, table = datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), DeltaTable(trips.data)
    with duckdb.connect() as database:
        database.register("trips", table.to_pyarrow_dataset())
        in_duckdb = database.execute("SELECT 1 FROM trips WHERE moment = ?", [last]).fetchall()
    scanned = pl.scan_delta(str(trips.data)).filter(pl.col("moment") == last).collect()
    frame = table.to_pandas(filters=[("moment", "=", last)], types_mapper=pd.ArrowDtype)
    where = "moment = TIMESTAMP '9999-12-31T23:59:59.999999Z'"
    in_spark = spark.read.format("delta").load(str(trips.data)).where(where).count()
    assert [len(in_duckdb), scanned.height, len(frame), in_spark] == [2, 2, 2, 2]


def what_the_page_warns_of(trips: Installed, spark: SparkSession) -> None:
    whole = set(DeltaTable(trips.data).to_pandas()["big"])
    assert 9_007_199_254_740_992.0 in whole, "expected one less than was sent"
    table = spark.read.format("delta").load(str(trips.data))
    with pytest.raises(ValueError, match="year 0 is out of range"):
        table.collect()
    # Through Arrow, which 4.2 takes by default: pandas' moments end in the year 2262.
    bounds = "out of bounds timestamp"
    with pytest.warns(UserWarning, match=bounds), pytest.raises(ValueError, match=bounds):
        table.toPandas()
    with duckdb.connect() as database:
        database.register("trips", DeltaTable(trips.data).to_pyarrow_dataset())
        ask = "SELECT max(moment), min(moment) FROM trips"
        database.execute("SET TimeZone = 'America/New_York'")
        with pytest.raises(OverflowError):
            database.execute(ask).fetchall()
        database.execute("SET TimeZone = 'UTC'")
        assert [each.year for each in database.execute(ask).fetchall()[0]] == [9999, 1]
