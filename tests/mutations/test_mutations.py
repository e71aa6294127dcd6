"""The oracle is alive: break one rule of the protocol in the product, and it turns red."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local.embedded.broker import Broker
from local.embedded.spark_server import SparkServer
from tests.mutations.catalogue import MUTATIONS, Mutation
from tests.mutations.scenarios import SCENARIOS
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Spark for all scenarios: no JVM is mutated, and the product runs on Connect as well."""
    folder = tmp_path_factory.mktemp("server")
    with SparkServer(folder, settings={"spark.master": "local[1]"}, environment=JAVA_TUNING) as one:
        yield one.connection


@pytest.fixture
def play(broker: Broker, remote: str, tmp_path: Path) -> Callable[[str, Path], dict[str, Any]]:
    """`play(scenario, jobs)`, with the package in `jobs`: what the oracle says of it."""

    def of(scenario: str, jobs: Path) -> dict[str, Any]:
        folder = tmp_path / "run"
        folder.mkdir()
        places = f"{jobs}{os.pathsep}{ROOT}"
        done = subprocess.run(
            [sys.executable, "-m", "tests.mutations.scenarios", scenario, broker.bootstrap, folder],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": places, "AIRFLOW_CONN_SPARK_DEFAULT": remote},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    return of


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_the_product_as_it_is_is_exact(
    scenario: str, play: Callable[[str, Path], dict[str, Any]]
) -> None:
    found = play(scenario, ROOT / "jobs")
    assert found["broken"] == [], f"{found['stopped']}\n{found['verdict']}"
    assert (found["stopped"], found["planned"] > 0) == (None, True)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_a_mutation_turns_the_oracle_red(
    mutation: Mutation, play: Callable[[str, Path], dict[str, Any]], tmp_path: Path
) -> None:
    jobs = tmp_path / "jobs"
    shutil.copytree(ROOT / "jobs", jobs, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    source = jobs / "sluice" / mutation.file
    text = source.read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, f"{mutation.file}: {mutation.old!r} is not there once"
    source.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    found = play(mutation.scenario, jobs)
    assert set(found["broken"]) & mutation.broken, f"{found['stopped']}\n{found['verdict']}"
