"""The oracle and the tests are alive: break one rule of the product, and they turn red."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local.embedded.broker import Broker
from local.embedded.spark_server import SparkServer
from tests.mutations.catalogue import SEEN_BY_ORACLE
from tests.mutations.catalogue_of_tests import SEEN_BY_TESTS
from tests.mutations.mutation import SeenByOracle, SeenByTest
from tests.mutations.planting import ROOT, environment_of, plant
from tests.mutations.scenarios import CONNECTION, SCENARIOS
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Spark for all scenarios that need it: no JVM is mutated."""
    folder = tmp_path_factory.mktemp("server")
    with SparkServer(folder, settings={"spark.master": "local[1]"}, environment=JAVA_TUNING) as one:
        yield one.connection


Play = Callable[[str, bool, Path], dict[str, Any]]


@pytest.fixture
def play(broker: Broker, tmp_path: Path, request: pytest.FixtureRequest) -> Play:
    """`play(scenario, on_spark, jobs)`, with the package in `jobs`: what the oracle says of it."""

    def of(scenario: str, on_spark: bool, jobs: Path) -> dict[str, Any]:
        folder = tmp_path / "run"
        folder.mkdir()
        environment = environment_of(jobs)
        environment.pop(CONNECTION, None)
        if on_spark:
            environment[CONNECTION] = request.getfixturevalue("remote")
        done = subprocess.run(
            [sys.executable, "-m", "tests.mutations.scenarios", scenario, broker.bootstrap, folder],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    return of


def test_every_scenario_shows_a_mutation() -> None:
    assert {each.scenario for each in SEEN_BY_ORACLE} == SCENARIOS.keys()


@pytest.mark.parametrize(
    ("scenario", "on_spark"), sorted({(each.scenario, each.on_spark) for each in SEEN_BY_ORACLE})
)
def test_the_product_as_it_is_is_exact(scenario: str, on_spark: bool, play: Play) -> None:
    found = play(scenario, on_spark, ROOT / "jobs")
    assert found["broken"] == [], f"{found['stopped']}\n{found['verdict']}"
    assert (found["stopped"], found["planned"] > 0) == (None, True)


@pytest.mark.parametrize("mutation", SEEN_BY_ORACLE, ids=lambda each: each.name)
def test_a_mutation_turns_the_oracle_red(
    mutation: SeenByOracle, play: Play, tmp_path: Path
) -> None:
    found = play(mutation.scenario, mutation.on_spark, plant(mutation, tmp_path))
    assert set(found["broken"]) & mutation.broken, f"{found['stopped']}\n{found['verdict']}"


@pytest.mark.parametrize("mutation", SEEN_BY_TESTS, ids=lambda each: each.name)
def test_a_mutation_turns_its_test_red(mutation: SeenByTest, tmp_path: Path) -> None:
    environment = environment_of(plant(mutation, tmp_path))
    # The part is one of the mutations, not of their tests.
    environment.pop("SLUICE_TEST_PART", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", mutation.test],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert " failed" in done.stdout.splitlines()[-1], done.stdout
