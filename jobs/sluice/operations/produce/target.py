"""The target of `sluice produce`: a topic that is there, or one that was asked for."""

from __future__ import annotations

import re

from sluice.broker.admin_requests import AdminRequests
from sluice.broker.client_settings import ClientSettings
from sluice.errors import SettingsError, did_you_mean

# As Kafka allows it.
_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")


def require_topic(client: ClientSettings, topic: str, partitions: int | None) -> bool:
    """Have the topic, with so many partitions if a number is given; says whether it was created.

    Only a topic that is missing is created, and only with a number. Raises SettingsError, or
    BrokerUnavailable.
    """
    if not _NAME.fullmatch(topic):
        raise SettingsError(
            f"{topic!r}: expected a topic's name: letters, digits, '.', '_', '-', at most 249."
        )
    kafka = AdminRequests(client)
    found = kafka.topics([topic])
    if topic not in found:
        if partitions is None:
            names = kafka.topic_names()
            raise SettingsError(
                f"broker {client.bootstrap}: expected a topic {topic!r}, found none of that name"
                f" among {len(names):,}{did_you_mean(topic, names)}. --partitions 1 creates it."
            )
        kafka.create(topic, partitions)
        return True
    there = len(found[topic][1])
    if partitions not in (None, there):
        raise SettingsError(
            f"topic {topic}: expected {partitions} partitions, as in --partitions, found {there}."
            " Leave the option out to produce to the topic as it is."
        )
    return False
