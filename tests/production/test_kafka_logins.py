"""Each way to log in: one connection serves all three clients, through every step of a batch."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from tests.conftest import topic_factory
from tests.production.worlds.secured_broker import (
    MECHANISMS,
    Right,
    SecuredBroker,
    secured_broker,
)
from tests.worlds.pipelines import Installed, Pipelines
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running


def rights(trips: Installed) -> list[Right]:
    """What docs/security.md lists."""
    topics: list[Right] = [
        (ResourceType.TOPIC, each, operation)
        for each in trips.topics
        for operation in (AclOperation.READ, AclOperation.DESCRIBE_CONFIGS)
    ]
    return [*topics, (ResourceType.GROUP, trips.group, AclOperation.READ)]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_batch_goes_all_the_way(
    mechanism: str, secured: SecuredBroker, pipeline: Pipelines
) -> None:
    trips = pipeline(topic_factory(secured.broker)(2))
    trips.bootstrap, trips.kafka = secured.bootstrap, secured.connection(mechanism)
    secured.allow(secured.user(mechanism), *rights(trips))
    topic = trips.topics[0]
    produce(secured.bootstrap, topic, numbered(10))
    producer = transactional(secured.bootstrap)
    send(producer, topic, numbered(5, 10), 1)
    end(secured.bootstrap, topic, producer, commit=False, partitions=2)
    produce(secured.bootstrap, topic, numbered(10, 20), 1)
    (batch,) = trips.run()
    # The five were aborted: only the raw log tells why their offsets have no row.
    assert (batch["records"], batch["gaps"]) == (20, 6)
    produce(secured.bootstrap, topic, numbered(10, 30))
    trips.run()
    verified = trips.sluice("verify", "--json")
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout)["violations"] == []
    assert trips.judge().facts.rows == 30
