"""Modules of another patch of Spark than the rest: all that their code refers to is there."""

from __future__ import annotations

import os
from pathlib import Path

import pyspark
import pytest
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import SPARK

from tests.production.bytecode import ClassPath, Reference, classes_of

JARS = JarFolder.in_environment(os.environ).of(SPARK)
SPARKS = Path(pyspark.__file__).parent / "jars"
MODULES = ("spark-avro_2.13-4.0.2.jar", "spark-token-provider-kafka-0-10_2.13-4.0.0.jar")


@pytest.fixture(scope="module")
def there() -> ClassPath:
    return ClassPath([*SPARKS.glob("*.jar"), *JARS.glob("*.jar")])


@pytest.mark.parametrize("module", MODULES)
def test_all_that_a_module_of_another_patch_refers_to_is_there(
    module: str, there: ClassPath
) -> None:
    wanted = {each for found in classes_of(JARS / module) for each in found.references}
    of_spark = {each for each in wanted if each.owner.startswith("org/apache/spark/")}
    assert len(of_spark) > 50
    assert {each for each in of_spark if there.lacks(each)} == set()


def test_a_member_that_is_missing_is_found(there: ClassPath) -> None:
    owner = "org/apache/spark/sql/avro/SchemaConverters$"
    assert not there.lacks(Reference(owner))
    assert there.lacks(Reference(owner, "toSqlType", "(Ljava/lang/String;)V"))
    assert there.lacks(Reference(f"{owner}x"))
