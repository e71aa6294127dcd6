"""Who else gives Spark its jars: the spec, Spark's own settings, Spark's own folder."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest
from sluice.lake.jars.supplied import spark_home, supplies_jars


@pytest.fixture
def spark(tmp_path: Path) -> dict[str, str]:
    """The environment of a Spark that has no jars of Delta."""
    for each in ("jars", "conf"):
        (tmp_path / each).mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.2.0.jar").touch()
    return {"SPARK_HOME": str(tmp_path)}


def test_a_plain_spark_has_none(spark: dict[str, str]) -> None:
    assert not supplies_jars({}, spark)
    assert not supplies_jars({"spark.driver.memory": "2g", "spark.jars": ""}, spark)


@pytest.mark.parametrize(
    "key", ["spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"]
)
def test_a_spec_may_name_them(spark: dict[str, str], key: str) -> None:
    assert supplies_jars({key: "delta.jar"}, spark)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("spark.jars   /jars/delta.jar", True),
        ("spark.jars=/jars/delta.jar", True),
        ("  spark.driver.extraClassPath: /jars/*", True),
        ("spark.jars.packages io.delta:delta-spark_4.2_2.13:4.4.0", True),
        ("# spark.jars /jars/delta.jar", False),
        ("spark.jars.ivy /tmp/ivy", False),
        ("spark.jars", False),
    ],
)
def test_sparks_own_settings_may_name_them(
    spark: dict[str, str], tmp_path: Path, line: str, expected: bool
) -> None:
    (tmp_path / "conf" / "spark-defaults.conf").write_text(f"spark.a b\n{line}\n", encoding="utf-8")
    assert supplies_jars({}, spark) is expected


def test_the_settings_may_be_in_a_folder_of_their_own(
    spark: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "etc"
    other.mkdir()
    (other / "spark-defaults.conf").write_text("spark.jars /jars/delta.jar\n", encoding="utf-8")
    assert supplies_jars({}, {**spark, "SPARK_CONF_DIR": str(other)})


def test_sparks_own_folder_may_have_them(spark: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "jars" / "delta-spark_4.2_2.13-4.4.0.jar").touch()
    assert supplies_jars({}, spark)


def test_the_spark_that_is_started_is_pysparks_own() -> None:
    assert spark_home({}) == Path(pyspark.__file__).parent
