"""A topic writer: produces numbered records to a topic, each acknowledged by all replicas and none
twice.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from sluice.broker.client_logs import LIBRDKAFKA
from sluice.broker.client_settings import ClientSettings
from sluice.errors import BrokerUnavailable, SluiceError

# How long a broker may leave a record without an answer.
_PATIENCE_MS = 60_000
_STEP_S = 0.2
_HEARING_S = 1.0


class TopicWriter:
    """Produces records, each with a number for messages; `finish` waits for the last answers."""

    def __init__(self, client: ClientSettings, topic: str) -> None:
        self.delivered = 0
        self._client = client
        self._topic = topic
        self._refused: tuple[int, KafkaError] | None = None
        self._at_work = False
        settings = {
            **client.librdkafka(),
            # All replicas in sync acknowledge, and a retry of librdkafka writes none twice.
            "enable.idempotence": True,
            "compression.type": "lz4",
            "linger.ms": 20,
            "message.timeout.ms": _PATIENCE_MS,
        }
        self._producer = Producer(settings, logger=LIBRDKAFKA)

    @property
    def waiting(self) -> int:
        """How many records have no answer yet."""
        return len(self._producer)

    def send(self, number: int, key: bytes | None, value: bytes) -> None:
        """Produce one record; it is delivered later. Raises what `finish` raises."""
        self._at_work = True
        while not self._enqueued(number, key, value):
            self._producer.poll(_STEP_S)
        self._producer.poll(0)
        self._require_none_refused()
        self._at_work = False

    def finish(self) -> None:
        """Wait until all records are delivered.

        Raises BrokerUnavailable, or SettingsError for a missing right: with the first record that
        was refused.
        """
        self._at_work = True
        while self._producer.flush(_STEP_S):
            pass
        self._require_none_refused()

    def hear_answers(self) -> None:
        """Take note of answers that have come, when a signal has interrupted the main thread.

        In the middle of a call to the client it takes note of them anyway.
        """
        if not self._at_work:
            self._producer.flush(_HEARING_S)

    def _enqueued(self, number: int, key: bytes | None, value: bytes) -> bool:
        """False when the client's queue is full."""
        answered = partial(self._answered, number)
        try:
            self._producer.produce(self._topic, value, key, on_delivery=answered)
        except BufferError:
            return False
        except KafkaException as problem:
            self._refused = (number, problem.args[0])
        return True

    def _answered(self, number: int, error: KafkaError | None, _: Message) -> None:
        if error is None:
            self.delivered += 1
        elif self._refused is None:
            self._refused = (number, error)

    def _require_none_refused(self) -> None:
        if self._refused is None:
            return
        while self._producer.flush(_STEP_S):
            pass
        raise self._refusal(*self._refused)

    def _refusal(self, number: int, error: Any) -> SluiceError:
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return self._client.lacking(f"WRITE on topic {self._topic}")
        return BrokerUnavailable(
            f"line {number}: broker {self._client.bootstrap} did not take the record:"
            f" {error.str()}. {self.delivered:,} records were delivered to topic {self._topic}."
        )
