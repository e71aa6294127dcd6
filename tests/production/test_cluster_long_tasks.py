"""A task that takes longer than the limit for starved jobs is at work: it is left alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.worlds.processes import JAVA_TUNING

pytestmark = pytest.mark.spark

SLEEPS = """
from pyspark.sql import functions as F
from sluice.lake.session import open_own
from sluice.lake.spark_place import OwnSpark
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse
limit = {"spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout": "3s"}
keys = {"version": 1, "pipeline": "naps", "table": "naps", "topics": ["none"], "spark": limit}
spec = PipelineSpec.model_validate({**keys, "format": {"type": "raw"}})
spark = open_own(OwnSpark("local[1]"), Warehouse("/"), spec)
nap = F.expr("reflect('java.lang.Thread', 'sleep', 9000L)")
spark.range(1, numPartitions=1).select(nap).write.format("noop").mode("overwrite").save()
spark.stop()
"""


def test_a_task_that_takes_its_time_is_not_a_starved_one() -> None:
    environment = {**os.environ, **JAVA_TUNING}
    done = subprocess.run(
        [sys.executable, "-c", SLEEPS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
