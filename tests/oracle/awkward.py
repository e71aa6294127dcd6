"""The awkward topic: aborted transactions, headers, null key, tombstone, one malformed record."""

from __future__ import annotations

import json
import uuid

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

# The records are stamped in 2023: the default retention would drop them at once.
KEPT = {"retention.ms": "-1"}
STAMP = 1_700_000_000_000


def awkward_topic(bootstrap: str) -> str:
    """Two equal partitions: records at 0-9 and 15-24, 11-13 aborted, markers at 10, 14 and 25."""
    name = f"oracle-{uuid.uuid4().hex[:12]}"
    create(bootstrap, name)
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name, "log_level": 0})
    producer.init_transactions(30)
    send(producer, name, range(10))
    send(producer, name, range(100, 103), abort=True)
    send(producer, name, range(10, 20))
    return name


def create(bootstrap: str, name: str, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = NewTopic(name, 2, 1, config=KEPT | config)
    admin.create_topics([wanted], operation_timeout=10)[name].result(timeout=15)


def send(producer: Producer, topic: str, ids: range, abort: bool = False) -> None:
    producer.begin_transaction()
    for number in ids:
        value: bytes | None = json.dumps({"id": number, "name": f"n{number}"}).encode()
        value = {4: None, 5: b"{not json"}.get(number, value)
        key = None if number == 3 else f"k{number}".encode()
        headers = [("h", str(number).encode()), ("h", None)] if number % 2 == 0 else None
        for partition in (0, 1):
            producer.produce(
                topic, value, key, partition, timestamp=STAMP + number, headers=headers
            )
    producer.flush(30)
    if abort:
        producer.abort_transaction(30)
    else:
        producer.commit_transaction(30)
