"""Broker answers: wait for one within a time limit; a refusal says what it lacks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from tenacity import (
    Retrying,
    before_sleep_log,
    retry_if_exception,
    stop_after_delay,
    wait_random_exponential,
)

from sluice.broker.client_settings import ClientSettings
from sluice.errors import BrokerUnavailable, SettingsError

log = logging.getLogger(__name__)

TIMEOUT_S = 15.0
_FORBIDDEN = (
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
)
# The group's coordinator is being elected or is still loading the group's offsets: retriable (Kafka
# protocol guide, error codes 14 to 16). librdkafka looks up the coordinator again but leaves it to
# the client to commit again (its issue 1195).
_NO_COORDINATOR = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
# How long an answer may still come, once a connection was refused: another broker may give it.
_REFUSED_S = 2.0
_STEP_S = 0.2


class NoSuchTopic(BrokerUnavailable):
    """The broker does not know the topic, or no longer knows it; the next request will show."""


class Refusals:
    """What librdkafka says of connections that it cannot make, and goes on to try without end."""

    def __init__(self) -> None:
        self.last: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        """Take note of an error (`error_cb`)."""
        if error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._TRANSPORT):
            self.last = error

    @property
    def lasting(self) -> bool:
        """Whether the login or a certificate was refused: to try again would not help."""
        if self.last is None:
            return False
        # The broker's own alert arrives as a transport error.
        return self.last.code() == KafkaError._AUTHENTICATION or "certificate" in self.last.str()

    def forget(self) -> None:
        """Forget it: an answer has come since."""
        self.last = None


@dataclass(frozen=True)
class Addressee:
    """Whom a request is sent to. `poll` has the client tell what it says of its connections."""

    client: ClientSettings
    refusals: Refusals
    poll: Callable[[], object]


def ask(
    asked: Addressee, question: Callable[[], Any], needs: str = "", seconds: float = TIMEOUT_S
) -> Any:
    """The answer, or the future's result. Retries for `seconds` while a group has no coordinator.

    `needs` are the rights that the request needs, such as READ on group sluice-trips. Raises
    BrokerUnavailable, which names the address, when no answer comes in time; NoSuchTopic;
    SettingsError when the connection is refused, or its user has not these rights.
    """
    again = Retrying(
        retry=retry_if_exception(_lacks_coordinator),
        wait=wait_random_exponential(multiplier=0.2, max=2),
        stop=stop_after_delay(seconds),
        before_sleep=before_sleep_log(log, logging.INFO),
        reraise=True,
    )
    try:
        return again(_answer, asked, question)
    except KafkaException as problem:
        asked.poll()
        raise _meant(asked, problem.args[0], needs) from problem
    except TimeoutError as problem:
        raise _unavailable(asked, "no answer") from problem


def _answer(asked: Addressee, question: Callable[[], Any]) -> Any:
    answer, began = question(), time.monotonic()
    if not isinstance(answer, Future):
        return answer
    while True:
        try:
            found = answer.result(_STEP_S)
        except TimeoutError:
            waited = time.monotonic() - began
            asked.poll()
            if waited > _REFUSED_S and asked.refusals.lasting:
                raise KafkaException(asked.refusals.last) from None
            if waited > TIMEOUT_S + 5:
                raise
        else:
            asked.refusals.forget()
            return found


def _lacks_coordinator(problem: BaseException) -> bool:
    return isinstance(problem, KafkaException) and problem.args[0].code() in _NO_COORDINATOR


def _meant(asked: Addressee, error: KafkaError, needs: str) -> BrokerUnavailable | SettingsError:
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return NoSuchTopic(
            f"broker {asked.client.bootstrap}: a topic was deleted while its state was read."
            " Nothing was changed; run again."
        )
    if error.code() in _FORBIDDEN:
        return asked.client.lacking(needs)
    refused = asked.refusals.last
    if refused is not None and asked.refusals.lasting:
        return asked.client.unwelcome(refused.str())
    return _unavailable(asked, f"{error.str()}; {refused.str()}" if refused else error.str())


def _unavailable(asked: Addressee, why: str) -> BrokerUnavailable:
    return BrokerUnavailable(
        f"broker {asked.client.bootstrap}: {why}. Nothing was changed; run again when the broker"
        " answers."
    )
