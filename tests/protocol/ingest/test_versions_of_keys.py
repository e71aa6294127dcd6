"""The newest record of every key, and all its versions: the queries of the pages, as they stand.

On logs that hold what offsets do not order: partitions that were added, a topic that was created
anew, late records, equal timestamps.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from tests.worlds.documented import questions, section
from tests.worlds.engines import ALL, Rows, engines

pytestmark = pytest.mark.spark

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD, ANEW = "z-the-first-topic", "a-the-topic-created-anew"
COLUMNS = pa.schema(
    [
        ("carrier", pa.string()),
        ("dep_delay", pa.float64()),
        ("changed_at", pa.timestamp("us", tz="UTC")),
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_timestamp", pa.timestamp("us", tz="UTC")),
        ("_key", pa.binary()),
        ("_tombstone", pa.bool_()),
    ]
)
BOOKINGS = pa.schema(
    [("id", pa.int64()), ("carrier", pa.string()), ("booked_at", pa.timestamp("us", tz="UTC"))]
)


def at(minute: float | None) -> datetime | None:
    return None if minute is None else NOON + timedelta(minutes=minute)


def record(
    key: str | None,
    delay: float | None,
    place: tuple[str, int, int],
    minute: float,
    changed: float | None = None,
) -> dict[str, Any]:
    """A row of the log; without a delay it is a tombstone. `place`: topic id, partition, offset."""
    topic_id, partition, offset = place
    return {
        "carrier": None if delay is None else key,
        "dep_delay": delay,
        "changed_at": at(changed),
        "_topic_id": topic_id,
        "_partition": partition,
        "_offset": offset,
        "_timestamp": at(minute),
        "_key": None if key is None else key.encode(),
        "_tombstone": delay is None,
    }


# Key → why its newest record is not the one with the greatest offset, or hard to find.
CLEAR = [
    # Partitions were added: UA moved to one that begins at 0.
    *(record("UA", 1, (OLD, 0, 90), 0), record("UA", 2, (OLD, 1, 0), 1)),
    # The topic was created anew, and counts from 0.
    *(record("DL", 1, (OLD, 0, 91), 0), record("DL", 2, (ANEW, 0, 3), 1)),
    # Deleted in the new topic.
    *(record("AA", 1, (OLD, 0, 92), 0), record("AA", None, (ANEW, 0, 4), 1)),
    # Sent within the same millisecond: here offsets decide.
    *(record("WN", 1, (OLD, 0, 93), 5), record("WN", 2, (OLD, 0, 94), 5)),
    # No keys.
    *(record(None, 1, (OLD, 0, 95), 6), record(None, 2, (OLD, 0, 96), 7)),
]
UNCLEAR = [
    # The same moment in two partitions, and in two topics.
    *(record("HA", 1, (OLD, 0, 97), 0), record("HA", 2, (OLD, 1, 1), 0)),
    *(record("YV", 1, (OLD, 0, 98), 0), record("YV", 2, (ANEW, 0, 5), 0)),
    # A later record with an older timestamp.
    *(record("F9", 1, (OLD, 0, 99), 2), record("F9", 2, (OLD, 0, 100), 1)),
]


def written(path: Path, rows: list[dict[str, Any]], columns: pa.Schema = COLUMNS) -> Path:
    """A table in two files, the newest rows first: no engine may rely on the order of rows."""
    half = len(rows) // 2
    for part in (rows[half:], rows[:half]):
        write_deltalake(path, pa.Table.from_pylist(part[::-1], schema=columns), mode="append")
    return path


def asked(
    spark: SparkSession, folder: Path, rows: list[dict[str, Any]], *queries: dict[str, str]
) -> Iterator[tuple[str, list[Rows]]]:
    """Each engine, and its answers to the queries on a data table with these rows."""
    tables = {
        "flights": written(folder / "flights", rows),
        "bookings": written(folder / "bookings", BOOKED, BOOKINGS),
    }
    for engine, ask in engines(spark, tables).items():
        yield engine, [ask(query[engine]) for query in queries]


def latest() -> list[dict[str, str]]:
    """The page's query for the latest record of every key, and that for doubtful keys."""
    found = questions(section("tables.md", "## The data table"))
    return [each for each in found if "_key" in each["duckdb"]]


def test_the_latest_record_of_a_key_that_moved_or_whose_topic_was_created_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    newest, *_ = latest()
    answers = dict(asked(spark, tmp_path, CLEAR, newest))
    expected = [[("DL", 2.0), ("UA", 2.0), ("WN", 2.0)]]
    assert answers == dict.fromkeys(ALL, expected)


def test_the_keys_that_timestamps_do_not_decide_are_found(
    spark: SparkSession, tmp_path: Path
) -> None:
    _, doubtful = latest()
    for engine, (rows,) in asked(spark, tmp_path, CLEAR + UNCLEAR, doubtful):
        assert [row[0] for row in rows] == [b"F9", b"HA", b"YV"], engine


HISTORY = [
    # A late record, the second by its timestamp; then the version of now.
    record("UA", 1, (OLD, 0, 10), 0, 30),
    record("UA", 3, (OLD, 0, 11), 20, 10),
    record("UA", 2, (OLD, 0, 12), 10, 20),
    # Deleted, and inserted again.
    record("DL", 1, (OLD, 0, 13), 0, 0),
    record("DL", None, (OLD, 0, 14), 10),
    record("DL", 2, (OLD, 0, 15), 20, 20),
    # Deleted for good; the delete was late.
    record("AA", 1, (OLD, 0, 16), 0, 0),
    record("AA", 2, (OLD, 0, 17), 20, 1),
    record("AA", None, (OLD, 0, 18), 30),
    # In two partitions, and in the topic that was created anew.
    record("B6", 1, (OLD, 0, 19), 0, 0),
    record("B6", 2, (OLD, 1, 0), 10, 10),
    record("B6", 3, (ANEW, 0, 0), 20, 20),
    # Twice at one moment.
    record("WN", 1, (OLD, 0, 20), 0, 0),
    record("WN", 2, (OLD, 0, 21), 0, 0),
    record("WN", 3, (OLD, 0, 22), 5, 5),
    *CLEAR[-2:],
]
# Before the first version; in one; at a border; now; while deleted; once it was there again.
BOOKED = [
    {"id": number, "carrier": carrier, "booked_at": at(minute)}
    for number, (carrier, minute) in enumerate(
        [("UA", -1), ("UA", 9), ("UA", 10), ("UA", 99), ("DL", 15), ("DL", 20), ("AA", 30)]
    )
]


def versions(order: str = "_timestamp") -> list[dict[str, str]]:
    """The page's view, its queries, and a last one for all of the view, with this order."""
    found = questions(section("state.md", "## Slowly changing dimensions"))
    everything = """
        SELECT carrier, dep_delay, valid_from, valid_to FROM versions ORDER BY carrier, valid_from
    """
    return [
        {engine: query.replace("_timestamp", order) for engine, query in each.items()}
        for each in [*found, dict.fromkeys(ALL, everything)]
    ]


def minutes(rows: Rows) -> Rows:
    """Moments as minutes since noon. Spark's have no zone: they are the machine's time."""
    return [
        tuple(
            (value.astimezone(UTC) - NOON) / timedelta(minutes=1)
            if isinstance(value, datetime)
            else value
            for value in row
        )
        for row in rows
    ]


OTHERS = [
    *(("AA", 1, 0, 20), ("AA", 2, 20, 30)),
    *(("B6", 1, 0, 10), ("B6", 2, 10, 20), ("B6", 3, 20, None)),
    *(("DL", 1, 0, 10), ("DL", 2, 20, None)),
]
IN_A_MOMENT = [("WN", 2, 0, 5), ("WN", 3, 5, None)]


def test_each_version_of_a_key_is_valid_from_its_moment_until_the_next(
    spark: SparkSession, tmp_path: Path
) -> None:
    by_time = [("UA", 1, 0, 10), ("UA", 2, 10, 20), ("UA", 3, 20, None)]
    for engine, answers in asked(spark, tmp_path, HISTORY, *versions()):
        _, now, booked, undecided, everything = map(minutes, answers)
        assert everything == OTHERS + by_time + IN_A_MOMENT, engine
        assert now == [("B6", 3), ("DL", 2), ("UA", 3), ("WN", 3)], engine
        assert booked == [(1, 1), (2, 2), (3, 3), (5, 2)], engine
        assert undecided == [], engine


def test_a_column_of_the_source_orders_the_versions(spark: SparkSession, tmp_path: Path) -> None:
    declared = "coalesce(changed_at, _timestamp)"
    assert f"`{declared}`" in section("state.md", "## Slowly changing dimensions")
    by_source = [("UA", 3, 10, 20), ("UA", 2, 20, 30), ("UA", 1, 30, None)]
    early = [("AA", 1, 0, 1), ("AA", 2, 1, 30), *OTHERS[2:]]
    for engine, answers in asked(spark, tmp_path, HISTORY, *versions(declared)):
        _, now, _, undecided, everything = map(minutes, answers)
        assert everything == early + by_source + IN_A_MOMENT, engine
        assert now == [("B6", 3), ("DL", 2), ("UA", 1), ("WN", 3)], engine
        assert undecided == [], engine


def test_versions_that_no_order_decides_are_found(spark: SparkSession, tmp_path: Path) -> None:
    *_, undecided, _ = versions()
    for engine, (rows,) in asked(spark, tmp_path, HISTORY + UNCLEAR, undecided):
        assert minutes(rows) == [(b"HA", 0), (b"YV", 0)], engine
