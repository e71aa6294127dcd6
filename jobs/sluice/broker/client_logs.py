"""Client logs: of a broker that is down, Kafka's clients say a line for each attempt.

Ours is one error, with their reason.
"""

from __future__ import annotations

import logging

LIBRDKAFKA = logging.getLogger("sluice.broker.librdkafka")
AIOKAFKA = logging.getLogger("aiokafka")


def silence_clients() -> None:
    """Keep these lines out of the log: for the edges, where a command or a task begins."""
    for each in (LIBRDKAFKA, AIOKAFKA):
        each.setLevel(logging.CRITICAL)
