"""Topic ids: what tells a topic that was created anew from the old one."""

from __future__ import annotations

from sluice.errors import SettingsError


def require_topic_id(topic: str, reported: str) -> str:
    """A topic's id as Kafka writes it. Raises SettingsError for a broker that reports none."""
    # librdkafka writes the id in plain base64, Kafka in the URL-safe form (KIP-516).
    found = reported.rstrip("=").replace("+", "-").replace("/", "_")
    if not found.strip("A"):
        raise SettingsError(
            f"{topic}: expected a topic id, found none: the broker reports no topic ids (KIP-516),"
            " and without them a topic created anew cannot be told from the old one. Upgrade the"
            " cluster to Kafka 2.8 or later, with inter.broker.protocol.version 2.8 or later:"
            " existing topics get their ids then."
        )
    return found
