"""A Spark that can read no Avro, JSON or Protobuf is refused by name, with what to add."""

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
builder = builder.config("spark.driver.extraClassPath", sys.argv[1])
builder = builder.config("spark.sql.extensions", sys.argv[2])
spark = builder.getOrCreate()
require_decoding(spark, spec(type="raw"))
try:
    require_decoding(spark, spec(type="avro", registry="r"))
except SettingsError as problem:
    print(problem)
spark.stop()
"""


JARS = ROOT / "build" / "jars" / "spark"


def told(class_path: str, extensions: str) -> str:
    """What a Spark with these settings is refused with; empty if it is not."""
    asking = [sys.executable, "-c", ASKING, class_path, extensions]
    return subprocess.run(asking, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.parametrize(
    ("class_path", "extensions"),
    [(f"{JARS}/*", ""), (str(JARS / "sluice.jar"), "sluice.Decoding")],
    ids=["no extension", "no protobuf-java"],
)
def test_a_spark_without_our_functions_is_refused(class_path: str, extensions: str) -> None:
    found = told(class_path, extensions)
    assert "expected the jars of this Sluice on Spark's class path, and sluice.Decoding" in found


def test_a_spark_with_them_is_taken() -> None:
    assert told(f"{JARS}/*", "sluice.Decoding") == ""
