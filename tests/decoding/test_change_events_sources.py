"""What each of Debezium's connectors says of the source of a change, on Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.spec_rows import rows

pytestmark = pytest.mark.spark
AT = datetime(2019, 6, 5, 10, 11, 8, 470476, tzinfo=UTC)
MILLIS = AT.replace(microsecond=470000)
MS = {"ts_ms": 1_559_729_468_470}
ALL = {**MS, "ts_us": 1_559_729_468_470_476, "ts_ns": 1_559_729_468_470_476_000}
# The members that the documentation of each connector shows.
SOURCES: dict[str, tuple[dict[str, Any], datetime]] = {
    "oracle": (
        {
            **ALL,
            "snapshot": False,
            "txId": "6.28.807",
            "scn": "2122185",
            "commit_scn": "2122185",
            "rs_id": "001234.00012345.0124",
            "ssn": 1,
            "redo_thread": 1,
            "user_name": "user",
        },
        AT,
    ),
    "sqlserver": (
        {
            **ALL,
            "snapshot": False,
            "db": "testDB",
            "schema": "dbo",
            "table": "customers",
            "change_lsn": None,
            "commit_lsn": "00000027:00000758:0003",
            "event_serial_no": None,
        },
        AT,
    ),
    "db2": (
        {**MS, "snapshot": True, "change_lsn": None, "commit_lsn": "00000027:00000758:0003"},
        MILLIS,
    ),
    "vitess": (
        {
            **ALL,
            "snapshot": "false",
            "db": "",
            "sequence": None,
            "keyspace": "commerce",
            "shard": "-80",
            "vgtid": '[{"keyspace":"commerce","shard":"-80","gtid":"MySQL56/a790d864:1-45"}]',
        },
        AT,
    ),
    "spanner": (
        {
            **ALL,
            "snapshot": "false",
            "sequence": "1",
            "server_transaction_id": "x",
            "low_watermark": 1_670_955_471_635,
            "read_at_timestamp": 1_670_955_531_791,
            "number_of_records_in_transaction": 2,
            "system_transaction": False,
            "value_capture_type": "OLD_AND_NEW_VALUES",
            "is_last_record_in_transaction_in_partition": True,
        },
        AT,
    ),
}


def test_the_source_is_kept_whole_and_its_own_moment_is_the_events(spark: SparkSession) -> None:
    form = {"type": "json", "envelope": "debezium", "schema": "id BIGINT"}
    sources = {name: {"connector": name, **given} for name, (given, _) in SOURCES.items()}
    values = [
        json.dumps({"op": "c", "after": {"id": 1}, "source": each, "ts_ms": 5}).encode()
        for each in sources.values()
    ]
    for found, (name, (_, moment)) in zip(
        rows(spark, {"format": form}, values), SOURCES.items(), strict=True
    ):
        assert json.loads(found["_source"]) == sources[name]
        assert (found["_source_time"], found["_op"], found["id"]) == (moment, "c", 1)
