"""The wheel is enough: in a plain Airflow, with a DAG file of two lines, and a killed driver."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator

import psutil
import pytest

from local.embedded.waiting import until
from tests.wheel.plain_environment import ROOT, PlainEnvironment, installed
from tests.worlds.deployment import RUN_SECONDS, Deployment, deployed, kafka_connection
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

# The oldest and the newest Airflow that the package takes, and a day on which it was the newest.
AIRFLOWS = {"3.2.2": "2026-06-15", "3.3.2": "2026-11-28"}
DAGS = """\
from sluice.airflow import pipeline_dags
globals().update(pipeline_dags({folder!r}))
"""
# A task that was killed is tried again soon.
POLICIES = """
from datetime import timedelta

def task_policy(task):
    task.retry_delay, task.retry_exponential_backoff = timedelta(seconds=2), 0
"""
PARTITIONS = 2
PATHS = "import sluice, sys; print(*sys.path, sluice.__file__, sep='\\n')"


@pytest.fixture(scope="module", params=AIRFLOWS)
def plain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlainEnvironment]:
    folder = tmp_path_factory.mktemp("plain")
    made = installed(folder, request.param, AIRFLOWS[request.param])
    yield made
    # A gigabyte and a half.
    shutil.rmtree(made.folder)


@pytest.fixture(scope="module")
def trips(
    plain: PlainEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """A pipeline in that Airflow: DAG files, specs, jars and tables each in a folder of its own."""
    folder = tmp_path_factory.mktemp("trips")
    dags = folder / "dags"
    dags.mkdir()
    (dags / "sluice_dags.py").write_text(DAGS.format(folder="../pipelines"), encoding="utf-8")
    with deployed(
        folder,
        {"trips": {}},
        partitions=PARTITIONS,
        policies=POLICIES,
        environment={"PYTHONPATH": "", "SLUICE_JARS": "", **JAVA_TUNING},
        settings={"core": {"dags_folder": str(dags), "plugins_folder": str(folder / "plugins")}},
        python=plain.python,
    ) as found:
        yield found["trips"]


def sluice(
    trips: Deployment, plain: PlainEnvironment, *words: str
) -> subprocess.CompletedProcess[str]:
    """The package's own command line, in its own environment."""
    return plain.run(
        "sluice",
        *words,
        SLUICE_WAREHOUSE=str(trips.warehouse),
        SLUICE_PIPELINES=str(trips.specs),
        AIRFLOW_CONN_KAFKA_DEFAULT=kafka_connection(trips.broker),
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that succeeded has printed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_of_the_checkout_is_on_its_path(plain: PlainEnvironment) -> None:
    done = plain.run("python", "-P", "-c", PATHS)
    assert done.returncode == 0, done.stderr
    assert [each for each in done.stdout.splitlines() if each.startswith(str(ROOT))] == []
    assert str(plain.folder) in done.stdout.splitlines()[-1]


def test_a_run_without_jars_names_the_command_that_fetches_them(
    plain: PlainEnvironment, trips: Deployment
) -> None:
    trips.produce(10)
    refused = sluice(trips, plain, "run", "trips")
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1
    assert "`sluice jars`" in refused.stderr
    fetched = json.loads(said(sluice(trips, plain, "jars", "--json")))
    assert [each["fetched"] for each in fetched["sets"]] == [True]


def test_a_driver_that_is_killed_in_its_batch_costs_no_record(
    plain: PlainEnvironment, trips: Deployment
) -> None:
    trips.produce(PARTITIONS * 10_000)
    trips.unpause()
    run = trips.trigger()

    def writing() -> tuple[psutil.Process, psutil.Process] | None:
        return trips.spark() if trips.files() else None

    for process in until(writing, "files of the batch", RUN_SECONDS):
        process.kill()
    trips.succeeds(run)
    trips.produce(500)
    trips.run()
    proof = said(sluice(trips, plain, "verify", "trips"))
    assert "FAILED" not in proof
    assert f"{PARTITIONS * 10_000 + 510:,} records in Kafka" in proof
    trips.assert_exact()
