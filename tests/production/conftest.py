"""The production shape: real servers, as a team runs them, on this machine's loopback."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from sluice.lake.s3_conf import s3_conf
from sluice.lake.session import server_conf

from local.embedded.broker import Broker
from local.embedded.gateway import Gateway, reached
from local.embedded.spark_server import SparkServer
from tests.production.worlds.answers import Answers
from tests.production.worlds.bucket_pipelines import InBucket
from tests.production.worlds.network import Network
from tests.production.worlds.secured_broker import SecuredBroker, secured_broker
from tests.production.worlds.watched_cluster import WatchedCluster
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.schema_registry import SchemaRegistry

FORM = {"type": "json", "schema": "id BIGINT"}
SMALL = {"spark.executor.memory": "512m"}


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One S3 server for all tests. A test that stops servers starts its own."""
    with Gateway(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="module")
def schema_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    """One schema registry for the tests of a file. A test that stops it starts its own."""
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry


@pytest.fixture(scope="session")
def answers(gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """A proxy in front of that server; between two tests it is honest."""
    with Answers(tmp_path_factory.mktemp("answers"), gateway.port) as running:
        yield running


@pytest.fixture(scope="session")
def network(answers: Answers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """The way to that proxy, which can be slow, cut or down."""
    with Network(tmp_path_factory.mktemp("network"), answers.port) as running:
        yield running


@pytest.fixture(scope="session")
def s3_server(
    gateway: Gateway, network: Network, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkServer]:
    """A warm Spark server that reaches the bucket over that network."""
    folder = tmp_path_factory.mktemp("spark")
    found = {"AIRFLOW_CONN_SLUICE_WAREHOUSE": gateway.connection(network.listens)}
    variables = reached(found)
    settings = {**server_conf(on_s3=True), **s3_conf(variables), "spark.master": "local[2]"}
    with SparkServer(folder, settings=settings, environment={**JAVA_TUNING, **variables}) as server:
        yield server


@pytest.fixture
def in_bucket(
    broker: Broker,
    gateway: Gateway,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., InBucket]]:
    """`in_bucket(topic, …, port=…, **keys)` is a pipeline whose warehouse is in the bucket.

    Asked for through a proxy's port where one is given; this process reaches it the same way.
    """
    made: list[InBucket] = []

    def install(*topics: str, port: int | None = None, **keys: object) -> InBucket:
        # A prefix of its own in the bucket.
        folder = tmp_path_factory.mktemp("p")
        made.append(
            InBucket(folder, broker.bootstrap, list(topics), no_spark, gateway=gateway, port=port)
        )
        made[-1].write_spec(**keys)
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)
        for name, text in reached(made[-1].environment).items():
            monkeypatch.setenv(name, text)
        return made[-1]

    yield install
    for run in (run for one in made for run in one.runs):
        run.clear_away()


@pytest.fixture
def landed_in_bucket(
    in_bucket: Callable[..., InBucket],
    topic: Callable[..., str],
    network: Network,
    s3_server: SparkServer,
) -> InBucket:
    """A pipeline with a landed batch and ten more records, on the network that fails."""
    made = in_bucket(topic(), port=network.listens)
    made.server = s3_server
    made.more(0)
    done = made.process("run")
    assert done.returncode == 0, done.stderr
    made.more(10)
    return made


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """One broker with all its ways to log in, and users that have no rights yet."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running


@pytest.fixture(scope="module")
def cluster_of_the_file(
    nothing_left_behind: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WatchedCluster]:
    with WatchedCluster.running(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(cluster_of_the_file: WatchedCluster) -> WatchedCluster:
    """A standalone Spark cluster of two workers, whatever the tests before have done to it."""
    return cluster_of_the_file.start()


@pytest.fixture
def on_cluster(
    cluster: WatchedCluster, topic: Callable[..., str], pipeline: Callable[..., Installed]
) -> Callable[..., Installed]:
    """`on_cluster(**spark)` makes a pipeline of two partitions, whose runs use the cluster."""

    def make(**spark: str) -> Installed:
        settings = {**SMALL, **spark}
        made = pipeline(topic(2), format=FORM, quarantine={"max_ratio": 0.2}, spark=settings)
        made.given["AIRFLOW_CONN_SPARK_DEFAULT"] = cluster.connection
        return made

    return make
