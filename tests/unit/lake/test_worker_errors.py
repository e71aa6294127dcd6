"""What a worker lacks, told from the errors that Spark reports."""

from __future__ import annotations

import pytest
from sluice.lake.causes import Cause
from sluice.lake.worker_errors import lack_of_workers

LOST = "Lost task 0.3 in stage 3.0 (TID 7) (10.0.0.7 executor 1): "
LAMBDA = "java.lang.ClassCastException: cannot assign instance of java.lang.invoke.SerializedLambda"
SPARK = "org.apache.spark.SparkException"
STARVED = "SLUICE-STARVED of spark://m:7077: no task has run for 120 s, executors: 0"
LACKS = [
    (
        Cause(SPARK, message=f"{LOST}java.lang.ClassNotFoundException: a.B\n\tat c.D"),
        "executor 1 on 10.0.0.7: expected the class a.B, found none. Put Sluice's jars",
    ),
    (
        Cause(SPARK, message=f"{LOST}java.lang.NoClassDefFoundError: a/B"),
        "expected the class a.B, found none",
    ),
    (
        Cause(SPARK, message=f"{LOST}{LAMBDA} to field x of type y in instance of a.B"),
        "expected the class a.B, found none",
    ),
    (
        Cause(SPARK, "SPARK_JOB_CANCELLED", {"jobId": "3", "reason": STARVED}),
        "expected an executor of spark://m:7077 to run a task within 120 s, found 0 executors",
    ),
    (
        Cause("sluice.Refused", "SLUICE_UNSEEN", {"file": "/w/t/a b.parquet"}),
        "expected /w/t/a b.parquet, which a worker has written, found no such file here",
    ),
    (
        Cause(SPARK, "FAILED_READ_FILE.FILE_NOT_EXIST", {"path": "file:///w/0.json"}),
        "expected file:///w/0.json, which a worker was to read, found no such file there",
    ),
]


@pytest.mark.parametrize(("cause", "expected"), LACKS)
def test_what_a_worker_lacks_is_told_with_the_next_move(cause: Cause, expected: str) -> None:
    told = lack_of_workers([Cause("java.util.concurrent.ExecutionException"), cause])
    assert told is not None
    assert expected in told


@pytest.mark.parametrize("condition", ["SLUICE_UNSEEN", "FAILED_READ_FILE.FILE_NOT_EXIST"])
def test_a_file_that_vanished_may_also_have_been_deleted(condition: str) -> None:
    """Case 10 of the field: on one machine the mounts of workers are the wrong place to look."""
    told = lack_of_workers([Cause(SPARK, condition, {"file": "/w/a", "path": "/w/a"})])
    assert told is not None
    assert "VACUUM with a short retention" in told


def test_other_causes_are_left_alone() -> None:
    assert (
        lack_of_workers([Cause(SPARK, message=f"{LOST}java.lang.IllegalStateException: a.B")])
        is None
    )


def test_a_record_that_tells_of_a_starved_job_is_no_sign_of_one() -> None:
    said = {"errorMessage": f"{STARVED} {LOST}java.lang.ClassNotFoundException: a.B"}
    raised = Cause(SPARK, "USER_RAISED_EXCEPTION", said, said["errorMessage"])
    assert lack_of_workers([raised]) is None
