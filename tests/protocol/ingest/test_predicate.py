"""A replacement removes exactly the rows that are read again, however many ranges there are."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from sluice.lake.port import BatchAttempt
from sluice.lake.predicate import rows_in_ranges

from tests.unit.builders import TOPIC_ID, batch, offsets, partition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = "_topic STRING, _topic_id STRING, _partition INT, _offset BIGINT"
BASE = 2**31 - 3


@pytest.mark.parametrize("partitions", [3, 60], ids=["few ranges", "many ranges"])
def test_exactly_the_rows_of_the_ranges_are_replaced(spark: SparkSession, partitions: int) -> None:
    random = Random(partitions)
    chosen = random.sample(range(2, partitions + 4), partitions - 1)
    ranges = [
        offsets(BASE + start, BASE + start + random.randint(0, 4), number, topic)
        for topic in ("flights", "delays")
        for number in chosen
        for start in [random.randint(0, 5)]
    ]
    rows = [
        (topic, topic_id, number, BASE + at)
        for topic in ("flights", "delays", "others")
        for topic_id in (TOPIC_ID, "another")
        for number in range(partitions + 6)
        for at in range(11)
    ]
    attempt = BatchAttempt(batch(*ranges), tuple(ranges), "attempt")
    found = spark.createDataFrame(rows, COLUMNS).where(rows_in_ranges(attempt)).collect()
    expected = {
        (each.partition.topic, TOPIC_ID, each.partition.partition, offset)
        for each in ranges
        for offset in range(each.start, each.end)
    }
    assert expected
    assert sorted(map(tuple, found)) == sorted(expected)


def test_ten_thousand_ranges_are_a_short_predicate() -> None:
    ranges = [offsets(9_123_456_789 + n, 9_123_506_789, n) for n in range(10_000)]
    text = rows_in_ranges(BatchAttempt(batch(*ranges), tuple(ranges), "attempt"))
    assert len(text) < 256_000
    assert partition(0).topic in text
