"""Fixtures that every layer may use: the embedded broker and topics on it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.broker import Broker
from local.topics import create_topic


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One real broker for all tests. A test that stops or kills brokers starts its own."""
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker for one test alone, which may kill and restart it."""
    with Broker(tmp_path / "broker") as running:
        yield running


@pytest.fixture
def topic(broker: Broker) -> Callable[..., str]:
    """`topic(partitions=1, **config)` makes an empty topic: `topic(2, retention_ms=-1)`."""
    return topic_factory(broker)


@pytest.fixture
def own_topic(own_broker: Broker) -> Callable[..., str]:
    """The same on the test's own broker."""
    return topic_factory(own_broker)


def topic_factory(broker: Broker) -> Callable[..., str]:
    def create(partitions: int = 1, *, name: str | None = None, **config: object) -> str:
        name = name or f"test-{uuid.uuid4().hex[:12]}"
        settings = {key.replace("_", "."): str(value) for key, value in config.items()}
        assert create_topic(broker.bootstrap, name, partitions, settings), f"{name} exists"
        return name

    return create
