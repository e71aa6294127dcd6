"""docs/versions.md and the package's ranges agree with what is locked, fetched and tested."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sluice.lake.jars.jar_set import SPARK

from local.embedded.broker_jars import BROKER
from tests.unit.sources import ROOT
from tests.wheel.test_wheel import AIRFLOWS

PAGE = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def both(kind: str) -> str:
    """What is installed, and for development: only a test's own AWS signs for Amazon MSK here."""
    files = (f"requirements.{kind}", f"requirements-dev.{kind}")
    return "\n".join((ROOT / each).read_text(encoding="utf-8") for each in files)


LOCK = dict(re.findall(r"^([a-z0-9-]+)(?:\[.*?])?==(\S+)", both("txt"), re.M))
EXTRAS = PROJECT["optional-dependencies"]
RANGES = [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]


def row(part: str) -> str:
    """A row of the page's first table."""
    (found,) = re.findall(rf"^\| {part} \|.*$", PAGE, re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("line", RANGES)
def test_the_locked_version_is_in_the_range_of_the_package(line: str) -> None:
    wanted = Requirement(line)
    assert LOCK[canonicalize_name(wanted.name)] in wanted.specifier
    assert re.search(rf"^{re.escape(wanted.name)}\b", both("in"), re.MULTILINE | re.IGNORECASE)


def test_the_airflows_of_the_page_are_those_of_the_tests_and_of_the_range() -> None:
    wanted = Requirement(next(each for each in EXTRAS["airflow"] if "airflow>" in each))
    for version in AIRFLOWS:
        assert version in wanted.specifier
        assert version in row("Airflow")
    assert LOCK["apache-airflow"] in row("Airflow")


def test_sparks_and_deltas_versions_are_those_of_the_jars() -> None:
    (spark,) = {each for each in EXTRAS["spark"] if each.startswith("pyspark=")}
    assert f"| {spark.partition('==')[2]} |" in row("Spark, pyspark, pyspark-client")
    names = " ".join(SPARK.listed)
    for part, jar in [(r"Delta \(jars\)", "delta-storage"), ("Kafka clients", "kafka-clients")]:
        (found,) = re.findall(rf"{jar}-([\d.]+)\.jar", names)
        assert found in row(part)
    (broker,) = re.findall(r"kafka-server-([\d.]+)\.jar", " ".join(BROKER.listed))
    assert broker in row("Kafka broker")
