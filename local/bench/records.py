"""The records: JSON flights of about 230 bytes, the same for every contender."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import click
from confluent_kafka import KafkaError, Message, Producer

PARTITIONS = 4
SCHEMA = (
    "id BIGINT, carrier STRING, flight INT, origin STRING, dest STRING, dep_delay DOUBLE,"
    " cancelled BOOLEAN, note STRING, time_hour TIMESTAMP"
)


def record(number: int) -> str:
    """The value of one record."""
    flight = {
        "id": number,
        "carrier": ("UA", "DL", "AA", "EV")[number % 4],
        "flight": number % 6000,
        "origin": "JFK",
        "dest": "LAX",
        "dep_delay": number % 97 - 20.5,
        "cancelled": number % 50 == 0,
        "note": f"gate {number % 80}, stand {number % 11}, on time as far as we know today",
        "time_hour": f"2013-{number % 12 + 1:02d}-{number % 28 + 1:02d}T{number % 24:02d}:00:00Z",
    }
    return json.dumps(flight)


def produce(
    bootstrap: str,
    topic: str,
    records: int,
    partitions: int = PARTITIONS,
    kind_of: Callable[[int], str] | None = None,
) -> int:
    """Produce flights, if asked with a header `kind`. Returns the mean size of a value in bytes."""
    flights = ((f"k{number}", record(number)) for number in range(records))
    return send(bootstrap, topic, partitions, flights, kind_of) // records


def send(
    bootstrap: str,
    topic: str,
    partitions: int,
    records: Iterable[tuple[str | None, str]],
    kind_of: Callable[[int], str] | None = None,
    first: int = 0,
) -> int:
    """Produce keys and values to the partitions in turn. Returns the size of all values.

    `first` is the first of the partitions.
    """
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50})
    size = 0
    for number, (key, value) in enumerate(records):
        size += len(value)
        headers = [("kind", kind_of(number).encode())] if kind_of else None
        at = first + number % partitions
        while True:
            try:
                producer.produce(topic, value, key, at, on_delivery=_delivered, headers=headers)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    if left := producer.flush(120):
        raise click.ClickException(f"{topic}: {left} records were not acknowledged")
    return size


def _delivered(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        raise click.ClickException(f"a record was not acknowledged: {error}")
