"""Fixtures of the fault tests: a Delta log store that fails inside a commit, in both places."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from local.embedded.ports import free_port
from local.embedded.spark_server import SparkServer, SparkServerError
from tests.faults.striking import Faulty, faulty_log_store, jvm_of
from tests.worlds.pipelines import Installed
from tests.worlds.processes import JAVA_TUNING


@pytest.fixture(scope="session")
def faulty_log(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The Spark configuration with which a commit fails as SLUICE_TEST_COMMIT says."""
    return faulty_log_store(tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="session")
def pages() -> str:
    """Where the server shows Spark's pages."""
    return f"http://127.0.0.1:{free_port()}/"


@pytest.fixture(scope="session")
def only_server(
    faulty_log: dict[str, str], pages: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkServer]:
    """One server for all fault tests, with that log store, Spark's pages and its event log."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "events").mkdir()
    events = {"dir": f"{folder}/events", "enabled": "true", "compress": "false"}
    shown = {"enabled": "true", "port": pages.strip("/").rpartition(":")[2]}
    server = SparkServer(
        folder,
        settings={
            "spark.master": "local[2]",
            **{f"spark.eventLog.{key}": value for key, value in events.items()},
            **{f"spark.ui.{key}": value for key, value in shown.items()},
            **faulty_log,
        },
        environment=JAVA_TUNING,
    )
    yield server.start()
    server.kill()


@pytest.fixture
def server(only_server: SparkServer) -> Iterator[SparkServer]:
    """That server, which runs again whatever the tests before have done to it."""
    try:
        only_server.wait()
    except SparkServerError:
        only_server.start()
    yield only_server
    if only_server.running:
        jvm_of(only_server).resume()


@pytest.fixture
def place(request: pytest.FixtureRequest) -> str:
    """Where Spark runs: `own`, or a `server` where a test wants it."""
    return str(getattr(request, "param", "own"))


@pytest.fixture
def faulty(
    place: str,
    topic: Callable[..., str],
    pipeline: Callable[..., Installed],
    faulty_log: dict[str, str],
    request: pytest.FixtureRequest,
) -> Faulty:
    """`faulty(**keys)` makes a pipeline on a new topic; its own processes use that log store."""
    if place == "own":
        return lambda **keys: pipeline(topic(), spark=faulty_log, **keys)
    server = request.getfixturevalue("server")

    def there(**keys: object) -> Installed:
        made = pipeline(topic(), **keys)
        made.server = server
        return made

    return there
