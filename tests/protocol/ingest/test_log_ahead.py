"""Delta's state of a table is computed before a commit needs it; nobody depends on it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession
from sluice.lake import log_ahead

from local.embedded.waiting import until

pytestmark = pytest.mark.spark

ROWS = pa.table({"n": [1, 2, 3]})


def test_the_state_is_there_before_it_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    uri = str(tmp_path / "numbers")
    write_deltalake(uri, ROWS)
    jvm: Any = spark._jvm
    delta_log = jvm.org.apache.spark.sql.delta.DeltaLog
    log_of = delta_log.forTable(spark._jsparkSession, uri)
    assert not log_of.unsafeVolatileSnapshot().stateReconstructionTriggered()
    # Another writer's: what this JVM knows is old.
    write_deltalake(uri, ROWS, mode="append")

    log_ahead.before_a_commit(spark, uri)

    def computed() -> bool:
        newest = log_of.unsafeVolatileSnapshot()
        return bool(newest.version() == 1 and newest.stateReconstructionTriggered())

    until(computed, "the state of version 1")
    # The settings it needs are those of a session of its own.
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "true"


def test_a_table_that_cannot_be_read_ahead_is_left_to_the_commit(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, log_ahead.__name__)
    log_ahead.before_a_commit(spark, str(tmp_path / "nothing"))

    def levels() -> set[str]:
        said = [each for each in caplog.records if str(tmp_path) in each.getMessage()]
        return {each.levelname for each in said if each.name == log_ahead.__name__}

    until(levels, "a line about it")
    assert levels() == {"DEBUG"}
