"""A Spark that can read neither Avro nor JSON is refused by name, with what to add."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.unit.sources import ROOT

pytestmark = pytest.mark.spark

ASKING = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from sluice.errors import SettingsError
from sluice.lake.decoding_functions import require_decoding
from sluice.spec.pipeline_spec import PipelineSpec

def spec(**form):
    keys = dict(version=1, pipeline="p", table="t", topics=["x"], format=form)
    return PipelineSpec.model_validate(keys)

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
if sys.argv[1:]:
    builder = builder.config("spark.driver.extraClassPath", sys.argv[1])
spark = builder.getOrCreate()
require_decoding(spark, spec(type="raw"))
try:
    require_decoding(spark, spec(type="avro", registry="r"))
except SettingsError as problem:
    print(problem)
spark.stop()
"""


def told(*arguments: str) -> str:
    """What a Spark without our settings is refused with."""
    asking = [sys.executable, "-c", ASKING, *arguments]
    return subprocess.run(asking, capture_output=True, text=True, check=True, timeout=120).stdout


def test_a_spark_without_our_functions_is_refused() -> None:
    found = told(str(ROOT / "build" / "jars" / "spark" / "*"))
    assert "expected sluice.jar on Spark's class path, and sluice.Decoding in" in found
