"""What the connection's user may not ask for is told as that: to try again would not help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from sluice.errors import SettingsError

from local.embedded.broker import Broker
from tests.conftest import topic_factory
from tests.worlds.pipelines import Installed
from tests.worlds.records import admin, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ACLS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "broker", settings=ACLS) as running:
        yield running


def forbid(broker: Broker, what: ResourceType, name: str, operation: AclOperation) -> None:
    deny, all_hosts = AclPermissionType.DENY, "*"
    literal = ResourcePatternType.LITERAL
    acl = AclBinding(what, name, literal, "User:ANONYMOUS", all_hosts, operation, deny)
    client = admin(broker.bootstrap)
    for done in client.create_acls([acl]).values():
        done.result(15)


def test_what_is_forbidden_is_no_matter_of_trying_again(
    strict: Broker, pipeline: Callable[..., Installed]
) -> None:
    trips = pipeline(topic_factory(strict)())
    trips.bootstrap = strict.bootstrap
    produce(strict.bootstrap, trips.topics[0], numbered(5))
    trips.run()
    forbid(strict, ResourceType.TOPIC, trips.topics[0], AclOperation.DESCRIBE)
    with pytest.raises(SettingsError, match=f"needs DESCRIBE on topic {trips.topics[0]}"):
        trips.plan()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 5)}}
