"""A topic on the embedded broker."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic


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
    return True
