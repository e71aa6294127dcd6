"""The Kafka source: exactly the records of a batch's offset ranges, as a DataFrame."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, SparkSession

from sluice.broker.client_settings import ClientSettings
from sluice.lake.reading_tasks import may_cut, most_offsets
from sluice.offsets.ranges import OffsetRange

# The source's columns; also the schema of an empty result.
_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP,"
    " headers ARRAY<STRUCT<key STRING, value BINARY>>"
)

# All requested records exist, so a long wait means that a broker does not answer. By default Spark
# waits 120 s for records, and three times 60 s for the topics' metadata.
_POLL_TIMEOUT_MS = 60_000
_API_TIMEOUT_MS = 20_000
# A task waits that often before its first record, and for its last ones (0.65 s with Kafka's
# defaults of 100 and 500 ms, 0.2 s with these).
_EAGER = {"kafka.retry.backoff.ms": "5", "kafka.fetch.max.wait.ms": "20"}

# By default a range has as many splits as tasks run at once. To plan one runs no job.
_PLAN_OF_A_RANGE, _SPLITS = "EXPLAIN SELECT * FROM range(1)", re.compile(r"splits=(\d+)")


def read_ranges(
    spark: SparkSession, client: ClientSettings, ranges: Iterable[OffsetRange]
) -> DataFrame:
    """The committed records of the ranges; empty ranges are not read."""
    wanted = [each for each in ranges if each.span]
    if not wanted:
        return spark.createDataFrame([], _SCHEMA)
    starts = _by_topic({each: each.start for each in wanted})
    ends = _by_topic({each: each.end for each in wanted})
    partitions = {topic: sorted(map(int, offsets)) for topic, offsets in starts.items()}
    options = {
        **_patience(client.java().get("request.timeout.ms")),
        **_EAGER,
        **{f"kafka.{key}": value for key, value in client.java().items()},
        **_cut(spark, wanted),
        "kafka.isolation.level": "read_committed",
        # A topic that is deleted while it is read would come back, empty: Java's default is true.
        "kafka.allow.auto.create.topics": "false",
        # The default of 500 records per poll costs more than the records themselves.
        "kafka.max.poll.records": "5000",
        "assign": json.dumps(partitions),
        "startingOffsets": json.dumps(starts),
        "endingOffsets": json.dumps(ends),
        "failOnDataLoss": "true",
        "includeHeaders": "true",
    }
    return spark.read.format("kafka").options(**options).load()


def _cut(spark: SparkSession, ranges: Sequence[OffsetRange]) -> dict[str, str]:
    """The option that lets several tasks read a large partition, if that takes less time."""
    spans = [each.span for each in ranges]
    most = most_offsets(spans, _cores(spark)) if may_cut(spans) else None
    return {} if most is None else {"maxRecordsPerPartition": str(most)}


def _cores(spark: SparkSession) -> int:
    """How many tasks run at once, or `spark.default.parallelism` if set; 1 if Spark hides it."""
    ((plan,),) = spark.sql(_PLAN_OF_A_RANGE).collect()
    found = _SPLITS.search(plan)
    return int(found[1]) if found else 1


def _patience(request_timeout: str | None) -> dict[str, str]:
    """How long to wait. The connection's timeout for a single request holds for all of them."""
    api_timeout = request_timeout or str(_API_TIMEOUT_MS)
    return {
        "kafkaConsumer.pollTimeoutMs": str(max(_POLL_TIMEOUT_MS, 2 * int(api_timeout))),
        "kafka.request.timeout.ms": api_timeout,
        "kafka.default.api.timeout.ms": api_timeout,
    }


def _by_topic(offsets: dict[OffsetRange, int]) -> dict[str, dict[str, int]]:
    topics: dict[str, dict[str, int]] = {}
    for each, offset in offsets.items():
        topics.setdefault(each.partition.topic, {})[str(each.partition.partition)] = offset
    return topics
