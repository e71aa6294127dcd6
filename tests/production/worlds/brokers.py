"""Three brokers that hold every topic of a test, and a fourth with the controller.

The fourth is never killed: it elects the leaders of the three, and keeps the groups' offsets.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import NewTopic

from local.embedded.broker import Broker
from local.embedded.waiting import until
from tests.worlds.records import admin, group_positions

NUMBERS = (2, 3, 4)
_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@dataclass(frozen=True)
class Brokers:
    """The cluster: by number, the three brokers; each is alone in its rack, `rack-2` and so on."""

    controller: Broker
    brokers: Mapping[int, Broker]

    @property
    def bootstrap(self) -> str:
        """All four addresses: any of the three may be down."""
        everyone = [*self.brokers.values(), self.controller]
        return ",".join(each.bootstrap for each in everyone)

    def topic(self, partitions: int = 1, **config: str) -> str:
        """An empty topic, on three replicas; broker 2 leads all partitions."""
        name = f"test-{uuid.uuid4().hex[:12]}"
        settings = {key.replace("_", "."): value for key, value in config.items()}
        places = [list(NUMBERS)] * partitions
        asked = NewTopic(name, partitions, replica_assignment=places, config=settings)
        client = admin(self.controller.bootstrap)
        client.create_topics([asked], operation_timeout=15)[name].result(20)
        return name

    def led_by(self, topic: str, number: int) -> None:
        """Wait until this broker leads the topic's first partition."""
        client = admin(self.controller.bootstrap)

        def leads() -> bool:
            partition = client.list_topics(topic, timeout=15).topics[topic].partitions[0]
            return int(partition.leader) == number

        until(leads, f"broker {number} at the head of {topic}")

    def in_sync(self, topic: str, *numbers: int) -> None:
        """Wait until exactly these brokers are in sync."""
        client = admin(self.controller.bootstrap)

        def agreed() -> bool:
            found = client.list_topics(topic, timeout=15).topics[topic].partitions.values()
            return all(sorted(each.isrs) == sorted(numbers) for each in found)

        until(agreed, f"brokers {numbers} in sync for {topic}")


@contextmanager
def three_brokers(folder: Path) -> Iterator[Brokers]:
    """The running cluster."""
    shared = {
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        "replica.selector.class": _SELECTOR,
    }
    with ExitStack() as stack:
        first = stack.enter_context(Broker(folder / "1", settings=shared, heap="256m"))
        # Else the groups' offsets would be on brokers that are killed.
        group_positions(first.bootstrap, "first", "none")
        brokers = {}
        for number in NUMBERS:
            own = {"node.id": str(number), "broker.rack": f"rack-{number}"}
            settings = {**shared, **own}
            member = Broker(folder / str(number), settings=settings, joins=first, heap="256m")
            brokers[number] = stack.enter_context(member)
        yield Brokers(first, brokers)
