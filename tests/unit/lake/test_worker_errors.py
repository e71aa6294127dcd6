"""What a worker lacks, told from Spark's own words."""

from __future__ import annotations

import pytest
from sluice.lake.worker_errors import lack_of_workers

LOST = "Lost task 0.3 in stage 3.0 (TID 7) (10.0.0.7 executor 1): "
LAMBDA = "java.lang.ClassCastException: cannot assign instance of java.lang.invoke.SerializedLambda"
SAID = {
    f"{LOST}java.lang.ClassNotFoundException: a.B\n\tat c.D": (
        "executor 1 on 10.0.0.7: expected the class a.B, found none. Put the jars"
    ),
    f"{LOST}java.lang.NoClassDefFoundError: a/B": "expected the class a.B, found none",
    f"{LOST}{LAMBDA} to field x of type y in instance of a.B": "expected the class a.B, found none",
    "Job 3 cancelled SLUICE-STARVED of spark://m:7077: no task has run for 120 s, executors: 0": (
        "expected an executor of spark://m:7077 to run a task within 120 s, found 0 executors"
    ),
    "java.io.FileNotFoundException: SLUICE-UNSEEN /w/t/a b.parquet\n\tat x": (
        "expected /w/t/a b.parquet, which a worker has written, found no such file here"
    ),
    "[FAILED_READ_FILE.FILE_NOT_EXIST] Error while reading file file:///w/0.json. F": (
        "expected file:///w/0.json, which a worker was to read, found no such file there"
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_what_a_worker_lacks_is_told_with_the_next_move(said: str) -> None:
    told = lack_of_workers(said)
    assert told is not None
    assert SAID[said] in told


def test_other_causes_are_left_alone() -> None:
    assert lack_of_workers(f"{LOST}java.lang.IllegalStateException: a.B") is None
