"""The target of `sluice produce`: a topic that is there, or one that was asked for."""

from __future__ import annotations

import re

from sluice.broker.client_settings import ClientSettings
from sluice.broker.topic_writer import create_topic, find_partitions, topic_names
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
    found = find_partitions(client, topic)
    if found is None and partitions is None:
        names = topic_names(client)
        raise SettingsError(
            f"broker {client.bootstrap}: expected a topic {topic!r}, found none of that name among"
            f" {len(names):,}{did_you_mean(topic, names)}. --partitions 1 creates it."
        )
    if found is None and partitions is not None:
        create_topic(client, topic, partitions)
        return True
    if partitions not in (None, found):
        raise SettingsError(
            f"topic {topic}: expected {partitions} partitions, as in --partitions, found {found}."
            " Leave the option out to produce to the topic as it is."
        )
    return False
