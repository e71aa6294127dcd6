"""Fixtures that every layer may use: the embedded broker, topics on it, and Spark."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.oracle import marked_processes, no_orphans
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.processes import JAVA_TUNING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# In the `&` of a shell script Ctrl-C is ignored, and all that is started there inherits it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Some of the tests; what takes long first, so that no worker is left with it at the end."""
    ranks = ("airflow", "spark", "integration")
    items.sort(key=lambda item: [item.get_closest_marker(rank) is None for rank in ranks])
    # SLUICE_TEST_PART=2/5: every fifth file, from the third on; of few files, every fifth test.
    number, parts = map(int, os.environ.get("SLUICE_TEST_PART", "0/1").split("/"))
    files = sorted({item.path for item in items})
    places = {
        item: at if len(files) <= parts else files.index(item.path) for at, item in enumerate(items)
    }
    items[:] = [item for item in items if places[item] % parts == number]


@pytest.fixture(scope="session", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Whatever the tests start inherits a mark; at the end nothing that bears it may run."""
    token = uuid.uuid4().hex
    os.environ["SLUICE_TEST_SESSION"] = token
    yield
    no_orphans(set(), lambda: marked_processes(f"SLUICE_TEST_SESSION={token}"), patience=20)


@pytest.fixture(scope="session")
def spark(nothing_left_behind: None) -> Iterator[SparkSession]:
    """One session for all layers, configured as the product does it."""
    from pyspark import SparkContext
    from sluice.lake.session import open_own
    from sluice.lake.spark_place import OwnSpark
    from sluice.spec_file.pipeline_spec import PipelineSpec
    from sluice.tables.warehouse import Warehouse

    tuning = pytest.MonkeyPatch()
    for key, value in JAVA_TUNING.items():
        tuning.setenv(key, value)
    named = {"version": 1, "pipeline": "tests", "table": "tests", "topics": ["none"]}
    spec = PipelineSpec.model_validate({**named, "format": {"type": "raw"}})
    session = open_own(OwnSpark(), Warehouse("/"), spec)
    tuning.undo()
    yield session
    gateway: Any = SparkContext._gateway
    session.stop()
    # The JVM would go on until Python ends.
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)
    SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One real broker for all tests. A test that stops or kills brokers starts its own."""
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture(scope="module")
def broker_of_the_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture
def own_broker(broker_of_the_file: Broker) -> Broker:
    """A broker that the test may kill and restart. The tests of a file share it, one by one."""
    return broker_of_the_file.start()


@pytest.fixture
def topic(broker: Broker) -> Callable[..., str]:
    """`topic(partitions=1, **config)` makes an empty topic: `topic(2, retention_ms=-1)`."""
    return topic_factory(broker)


@pytest.fixture
def own_topic(own_broker: Broker) -> Callable[..., str]:
    """The same on the file's own broker."""
    return topic_factory(own_broker)


def topic_factory(broker: Broker) -> Callable[..., str]:
    def create(partitions: int = 1, *, name: str | None = None, **config: object) -> str:
        name = name or f"test-{uuid.uuid4().hex[:12]}"
        settings = {key.replace("_", "."): str(value) for key, value in config.items()}
        assert create_topic(broker.bootstrap, name, partitions, settings), f"{name} exists"
        return name

    return create


def lands_without_spark(test: pytest.Item) -> bool:
    """Whether a test decides only, so that its batches need no Spark.

    A test of a deciding file that is about Spark is marked so.
    """
    marked = test.get_closest_marker("deciding") and not test.get_closest_marker("spark")
    return bool(marked) and os.environ.get("SLUICE_TEST_LAKE") != "spark"


@pytest.fixture
def pipeline(
    broker: Broker, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Installed]]:
    """`pipeline(topic, …, **keys)` writes a spec with these keys into a folder of its own."""
    made: list[Installed] = []

    def install(*topics: str, **keys: object) -> Installed:
        folder = tmp_path / f"p{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        written = lands_without_spark(request.node)
        session = no_spark if written else partial(request.getfixturevalue, "spark")
        made.append(Installed(folder, broker.bootstrap, list(topics), session, written=written))
        made[-1].write_spec(**keys)
        return made[-1]

    yield install
    for run in (run for one in made for run in one.runs):
        run.clear_away()
