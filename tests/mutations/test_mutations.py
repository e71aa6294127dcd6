"""The oracle is alive: break one rule of the protocol in the product, and it turns red."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local.embedded.broker import Broker
from tests.mutations.catalogue import MUTATIONS, Mutation
from tests.mutations.scenarios import SCENARIOS
from tests.worlds.pipelines import JAVA_TUNING, Installed

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROOT = Path(__file__).resolve().parents[2]


def play(scenario: str, jobs: Path, broker: Broker, folder: Path) -> dict[str, Any]:
    """A scenario with the package in `jobs`; what the oracle says of it."""
    folder.mkdir()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.mutations.scenarios",
            scenario,
            broker.bootstrap,
            folder,
        ],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING, "PYTHONPATH": f"{jobs}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_the_product_as_it_is_is_exact(
    scenario: str, topic: Callable[..., str], pipeline: Callable[..., Installed]
) -> None:
    trips = pipeline(topic())
    expectations = SCENARIOS[scenario](trips) or {}
    assert trips.judge(**expectations).facts.planned > 0


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_a_mutation_turns_the_oracle_red(
    mutation: Mutation, broker: Broker, tmp_path: Path
) -> None:
    jobs = tmp_path / "jobs"
    (tmp_path / "build").symlink_to(ROOT / "build")
    shutil.copytree(ROOT / "jobs", jobs, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    source = jobs / "sluice" / mutation.file
    text = source.read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, f"{mutation.file}: {mutation.old!r} is not there once"
    source.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    found = play(mutation.scenario, jobs, broker, tmp_path / "run")
    assert set(found["broken"]) & mutation.broken, f"{found['stopped']}\n{found['verdict']}"
