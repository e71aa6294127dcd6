"""Secrets of every kind of login are read nowhere: arguments, logs, events, tables, executors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.conftest import topic_factory
from tests.oracle import no_secret
from tests.production.worlds.secured_broker import SecuredBroker, produce_with_gaps
from tests.production.worlds.watched_cluster import WatchedCluster
from tests.worlds.pipelines import Pipelines, more

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@contextmanager
def watching(secured: SecuredBroker, clean: set[int]) -> Iterator[set[str]]:
    """What is seen of secrets while the block runs: in any arguments, and in the environment of
    what these processes have started.
    """
    seen: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.5):
            seen.update(_shown(secured.secrets, clean))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _shown(secrets: list[str], clean: set[int]) -> Iterator[str]:
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
            parents = {each.pid for each in process.parents()} | {process.pid}
            variables = str(process.environ()) if parents & clean else ""
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if "CoarseGrainedExecutorBackend" in words and variables:
            yield "an executor"
        if any(each in words for each in secrets):
            yield f"secret in the arguments of {process.name()}"
        if any(each in variables for each in secrets):
            yield f"secret in the environment of {process.name()}"


def logs_in(events: Path) -> list[Path]:
    """A run's event log is a file, or a folder of them."""
    return [each for each in events.rglob("*") if each.is_file()]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "OAUTHBEARER", "MTLS in files"])
def test_a_run_on_a_cluster_shows_no_secret(
    mechanism: str, secured: SecuredBroker, cluster: WatchedCluster, pipeline: Pipelines
) -> None:
    events = cluster.folder / "events"
    events.mkdir(exist_ok=True)
    conf = {"enabled": "true", "dir": events.as_uri(), "compress": "false"}
    spark = {f"spark.eventLog.{key}": value for key, value in conf.items()}
    trips = pipeline(
        topic_factory(secured.broker)(2), spark={**spark, "spark.executor.memory": "512m"}
    )
    secured.admits(trips, mechanism)
    produce_with_gaps(trips)
    workers = {each.process.pid for each in cluster.workers}
    with watching(secured, workers) as seen:
        run = trips.start("run", AIRFLOW_CONN_SPARK_DEFAULT=cluster.connection)
        # The driver has them in its environment: who looks there finds them.
        told = set(_shown(secured.secrets, {run.process.pid}))
        done = run.end()
    assert done.returncode == 0, done.stderr
    assert seen == {"an executor"}
    assert any(each.startswith("secret in the environment") for each in told)
    assert any("SparkListenerSQLExecutionStart" in each.read_text() for each in logs_in(events))
    for secret in [*secured.secrets, *secured.tokens.given]:
        assert secret not in done.stdout
        no_secret(secret, trips.folder, cluster.folder)
    assert trips.judge().facts.rows == 20


def test_what_is_refused_shows_no_secret(
    secured: SecuredBroker, cluster: WatchedCluster, pipeline: Pipelines
) -> None:
    """The password is changed after planning: all who tell of it do so without it."""
    trips = pipeline(topic_factory(secured.broker)())
    secured.admits(trips, "SCRAM-SHA-256")
    more(trips, 10)
    trips.kafka = secured.connection("SCRAM-SHA-256", "canary-that-nobody-knows")
    done = trips.process("run", AIRFLOW_CONN_SPARK_DEFAULT=cluster.connection)
    assert done.returncode == 1
    assert "connection kafka_default is refused: " in done.stderr
    for secret in ("canary-that-nobody-knows", *secured.secrets):
        no_secret(secret, trips.folder)
