"""A topic on the embedded broker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from local.embedded.waiting import until


def create_topic(bootstrap: str, name: str, partitions: int, config: Mapping[str, str]) -> bool:
    """Create it and wait until it can be used; False if one of that name already exists."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    asked = NewTopic(name, partitions, 1, config=dict(config))
    try:
        admin.create_topics([asked], operation_timeout=15)[name].result(timeout=20)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        raise
    until(partial(_can_be_used, admin, name, partitions), f"topic {name} on every broker")
    return True


def _can_be_used(admin: AdminClient, name: str, partitions: int) -> bool:
    """Whether the brokers, which hear of it from the controller, answer for every partition."""
    asked = {TopicPartition(name, number): OffsetSpec.latest() for number in range(partitions)}
    answers = admin.list_offsets(asked, request_timeout=15)
    return all(each.exception(20) is None for each in answers.values())
