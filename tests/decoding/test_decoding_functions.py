"""A Spark that can read no Avro, JSON or Protobuf is refused by name, with what to add."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import SPARK

from tests.worlds.processes import JAVA_TUNING

pytestmark = pytest.mark.spark

ASKING = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from sluice.errors import SettingsError
from sluice.lake.decoding_functions import require_decoding
from sluice.spec_file.pipeline_spec import PipelineSpec

def spec(more={}, **form):
    keys = dict(version=1, pipeline="p", table="t", topics=["x"], format=form, **more)
    return PipelineSpec.model_validate(keys)

class_path, *each = sys.argv[1:]
for extensions in each:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraClassPath", class_path)
    spark = builder.config("spark.sql.extensions", extensions).getOrCreate()
    require_decoding(spark, spec(type="raw"))
    any_json = "try_parse_json(decode(value, 'UTF-8'))"
    derived, only = {"derived": {"a": any_json}}, {"only": {"header": "kind", "value": "a"}}
    state = {"state": {"key": ["_key"]}}
    raw = [spec(more, type="raw") for more in (derived, only, state)]
    for each in spec(type="avro", registry="r"), *raw:
        try:
            require_decoding(spark, each)
            print("taken")
        except SettingsError as problem:
            print(problem)
    spark.stop()
"""


JARS = JarFolder.in_environment(os.environ).of(SPARK)


OURS = "sluice.Decoding"
REFUSED = "expected the jars of this Sluice on Spark's class path, and sluice.Decoding"


def told(class_path: str, *extensions: str) -> list[str]:
    """What a Spark with these jars says to each setting: one process, sessions one by one.

    Each is asked for records that are decoded, and for raw ones: of one kind among several, or with
    a state table.
    """
    asking = [sys.executable, "-c", ASKING, class_path, *extensions]
    tuned = {**os.environ, **JAVA_TUNING}
    done = subprocess.run(
        asking, capture_output=True, text=True, check=True, timeout=120, env=tuned
    )
    return done.stdout.splitlines()


def test_a_spark_without_our_extension_is_refused_and_one_with_it_is_taken() -> None:
    found = told(f"{JARS}/*", "", OURS)
    assert [REFUSED in each for each in found[:4]] == [True] * 4
    assert found[4:] == ["taken"] * 4


def test_a_spark_without_protobuf_java_is_refused() -> None:
    found = told(str(JARS / "sluice.jar"), OURS)
    assert [REFUSED in each for each in found] == [True] * 4
