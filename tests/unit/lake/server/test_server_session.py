"""What a session on a Spark server leaves alone when nobody holds it any more."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: gRPC aborts the children that a process forks later.
SCRIPT = """
import gc, weakref
from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator
from sluice.lake.server.server_session import LastingSession
from sluice.lake.spark_place import SparkServer

session = LastingSession(SparkServer("127.0.0.1", 9), "0b8a5c3e-7f0e-4c7b-9a53-1d2c50a7f6d1")
gone = weakref.ref(session)
shared = ExecutePlanResponseReattachableIterator._get_or_create_release_thread_pool()
del session
gc.collect()
print(gone(), shared.submit(lambda: "goes on").result())
"""


@pytest.mark.patient
def test_a_session_collected_as_garbage_does_not_end_the_statements_of_another() -> None:
    """All sessions of a process share the threads that confirm what was received."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.stdout == "None goes on\n", done.stderr
