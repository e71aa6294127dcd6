"""What lands is the same whatever Spark's own files or a server set: each such setting is hostile.

In processes of their own, as a user has them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from sluice.spec_file.spark_keys import EXACT_CONF

from local.embedded.spark_server import SparkServer
from tests.oracle.json_fields import reference_decoder
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

DEFAULTS = "spark.databricks.delta.properties.defaults."
HOSTILE = {
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInRead": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.parquet.int96TimestampConversion": "true",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.function.concatBinaryAsString": "true",
    "spark.sql.function.eltOutputAsString": "true",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.databricks.delta.commitInfo.enabled": "false",
    "spark.databricks.delta.schema.autoMerge.enabled": "true",
    "spark.databricks.delta.stats.collect": "false",
    "spark.sql.sources.partitionOverwriteMode": "DYNAMIC",
}
# Not pinned one by one: taken from the session, as no spec may set them.
STRANGE = {
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true",
    "spark.databricks.delta.commitInfo.userMetadata": "another's",
    f"{DEFAULTS}appendOnly": "true",
    f"{DEFAULTS}setTransactionRetentionDuration": "interval 1 hours",
    f"{DEFAULTS}enableDeletionVectors": "true",
}
FORM = {
    "type": "json",
    "schema": "id BIGINT, day DATE, at TIMESTAMP, amount DECIMAL(10,2), name STRING",
}
DERIVED = {"said": "CONCAT(name, '|', CAST(amount AS STRING))", "year": "YEAR(day)"}
FIELDS = ("id", "day", "at", "amount", "name")
RECORDS = [
    (1, "0001-01-01", "0001-01-01T00:00:00.000001Z", 1.25, "ä"),
    (2, "1582-10-04", "1900-01-01T00:00:00.123456Z", -0.01, ""),
    (3, "9999-12-31", "9999-12-31T23:59:59.999999Z", 0, "x"),
]


def test_each_setting_that_rows_depend_on_is_hostile_here() -> None:
    assert HOSTILE.keys() == EXACT_CONF.keys()
    assert not [key for key, value in HOSTILE.items() if value == EXACT_CONF[key]]


@pytest.fixture
def landed(topic: Topic, pipeline: Pipelines) -> Callable[..., Installed]:
    """`landed(**environment)` lands the records, and one of their ranges once more."""

    def go(**environment: str) -> Installed:
        trips = pipeline(topic(retention_ms=-1), format=FORM, derived=DERIVED)
        values = [json.dumps(dict(zip(FIELDS, e, strict=True))).encode() for e in RECORDS]
        produce(trips.bootstrap, trips.topics[0], values, timestamp=1_700_000_000_123)
        for command in (("run",), ("reprocess", "--range", f"{trips.topics[0]}[0] [0, 2)")):
            done = trips.process(*command, **environment)
            assert done.returncode == 0, done.stderr
        return trips

    return go


def decoded(value: bytes) -> dict[str, Any]:
    """Fields and derived columns of a record."""
    fields = reference_decoder(FORM["schema"])(value)
    assert fields is not None
    return fields | {"said": f"{fields['name']}|{fields['amount']}", "year": fields["day"].year}


def stored(trips: Installed) -> tuple[list[dict[str, Any]], set[str], dict[str, str]]:
    """The rows as other readers see them, the types in the files, the table's properties."""
    table = DeltaTable(trips.data)
    rows = table.to_pyarrow_table().to_pylist()
    for row in rows:
        del row["_topic"], row["_topic_id"]
    files = [each.removeprefix("file://") for each in table.file_uris()]
    schemas = {str(pq.ParquetFile(each).schema).partition("\n")[2] for each in files}
    properties = dict(table.metadata().configuration)
    del properties["sluice.pipeline"]
    assert len(rows) == len(RECORDS)
    return sorted(rows, key=lambda row: row["_offset"]), schemas, properties


def test_the_same_lands_whatever_else_is_set(
    landed: Callable[..., Installed], tmp_path: Path
) -> None:
    plain = landed()
    expected = stored(plain)
    assert str(expected[0][0]["day"]) == "0001-01-01"
    assert expected[0][1]["at"].microsecond == 123456
    conf = tmp_path / "conf"
    conf.mkdir()
    lines = [f"{key} {value}\n" for key, value in (HOSTILE | STRANGE).items()]
    (conf / "spark-defaults.conf").write_text("".join(lines), encoding="utf-8")
    hostile = landed(SPARK_CONF_DIR=str(conf))
    assert stored(hostile) == expected
    hostile.judge(decode=decoded)


def test_nor_does_a_server_decide_about_it(
    landed: Callable[..., Installed], tmp_path: Path
) -> None:
    tuning = {key: JAVA_TUNING[key] for key in JAVA_TUNING.keys() - {"SPARK_LOCAL_IP"}}
    expected = stored(landed())
    settings = {"spark.master": "local[1]", **HOSTILE, **STRANGE}
    server = SparkServer(tmp_path / uuid.uuid4().hex, settings=settings, environment=tuning)
    try:
        there = landed(AIRFLOW_CONN_SPARK_DEFAULT=server.start().connection)
    finally:
        server.kill()
    assert stored(there) == expected
    there.judge(decode=decoded)
