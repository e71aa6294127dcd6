"""Fixtures of the integration tests: one Spark session for all of them, and pipelines."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from local.broker import Broker
from tests.integration.pipelines import JAVA_TUNING, Installed
from tests.oracle import marked_processes, no_orphans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Whatever the tests start inherits a mark; at the end nothing that bears it may run."""
    token = uuid.uuid4().hex
    os.environ["SLUICE_TEST_SESSION"] = token
    yield
    no_orphans(set(), lambda: marked_processes(f"SLUICE_TEST_SESSION={token}"), patience=20)


@pytest.fixture(scope="session")
def spark(nothing_left_behind: None) -> Iterator[SparkSession]:
    """One session in this process, configured as the product does it."""
    from pyspark import SparkContext
    from sluice.lake.session import open_session
    from sluice.spec import PipelineSpec

    tuning = pytest.MonkeyPatch()
    for key, value in JAVA_TUNING.items():
        tuning.setenv(key, value)
    named = {"version": 1, "pipeline": "tests", "table": "tests", "topics": ["none"]}
    session = open_session(PipelineSpec.model_validate({**named, "format": {"type": "raw"}}))
    tuning.undo()
    yield session
    gateway = SparkContext._gateway
    session.stop()
    # The JVM would go on until Python ends.
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)
    SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture
def pipeline(
    broker: Broker, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Installed]]:
    """`pipeline(topic, …, **keys)` writes a spec with these keys into a folder of its own."""
    made: list[Installed] = []

    def install(*topics: str, **keys: object) -> Installed:
        folder = tmp_path / f"p{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        session = partial(request.getfixturevalue, "spark")
        made.append(Installed(folder, broker.bootstrap, list(topics), session))
        made[-1].write_spec(**keys)
        return made[-1]

    yield install
    for run in (run for one in made for run in one.runs):
        run.clear_away()
