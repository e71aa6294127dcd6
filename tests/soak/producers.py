"""The producers of a soak: they send what was scheduled, whatever becomes of the broker."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaException, Producer

from tests.soak.diary import Diary
from tests.soak.parcels import Parcel

# The broker aborts what a dead producer has left open, soon.
TIMEOUT_MS, LONG_TIMEOUT_MS = 10_000, 25_000
ANSWER = 20.0
QUIET = {"log_level": 0, "linger.ms": 5}


@dataclass(frozen=True)
class Target:
    """Where the records go."""

    bootstrap: str
    topic: str
    partitions: int


def send(producer: Producer, target: Target, parcel: Parcel) -> None:
    for partition, value in parcel.contents(target.partitions):
        producer.produce(
            target.topic, value, b"key", partition, headers=[("parcel", str(parcel.dice).encode())]
        )
        producer.poll(0)


class Producing:
    """A schedule of parcels being sent; a thread calls `go`."""

    def __init__(self, target: Target, diary: Diary, stop: threading.Event) -> None:
        self._target, self._diary, self._stop = target, diary, stop
        self._producer: Producer | None = None
        self._name = f"soak-{uuid.uuid4().hex}"

    def go(self, parcels: Iterable[Parcel]) -> None:
        """Send each parcel when it is due, or as soon as the one before is done with."""
        for parcel in parcels:
            self._stop.wait(max(0.0, parcel.at - self._diary.now))
            if self._stop.is_set():
                break
            try:
                self._transaction(parcel) if parcel.ending else self._plain(parcel)
            except (KafkaException, BufferError) as problem:
                self._diary.write(f"producer: {problem}")
                self._producer = None
        if self._producer is not None:
            self._producer.flush(ANSWER)

    def _plain(self, parcel: Parcel) -> None:
        settings = {"bootstrap.servers": self._target.bootstrap, **QUIET}
        self._producer = self._producer or Producer({**settings, "enable.idempotence": True})
        send(self._producer, self._target, parcel)
        self._producer.flush(ANSWER)

    def _transaction(self, parcel: Parcel) -> None:
        producer = self._producer = self._producer or opened(self._target, self._name)
        producer.begin_transaction()
        send(producer, self._target, parcel)
        producer.flush(ANSWER)
        self._stop.wait(parcel.open_for)
        match parcel.ending:
            case "commit":
                producer.commit_transaction(ANSWER)
            case "abort":
                producer.abort_transaction(ANSWER)
            case "vanish":
                self._name = f"soak-{uuid.uuid4().hex}"
                self._producer = None
            case "restart":
                self._producer = None


def opened(target: Target, name: str, timeout_ms: int = TIMEOUT_MS) -> Producer:
    """A transactional producer. What another one of its name has left open is aborted."""
    producer = Producer(
        {
            "bootstrap.servers": target.bootstrap,
            "transactional.id": name,
            "transaction.timeout.ms": timeout_ms,
            **QUIET,
        }
    )
    producer.init_transactions(ANSWER)
    return producer


def left_open(target: Target, parcel: Parcel, healing: threading.Event, seconds: float) -> None:
    """A transaction that stays open for a while, and is then committed or aborted."""
    producer = opened(target, f"soak-{uuid.uuid4().hex}", LONG_TIMEOUT_MS)
    producer.begin_transaction()
    send(producer, target, parcel)
    producer.flush(ANSWER)
    healing.wait(seconds)
    if parcel.ending == "commit":
        producer.commit_transaction(ANSWER)
    else:
        producer.abort_transaction(ANSWER)
