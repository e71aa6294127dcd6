"""Broker answers: wait for one within a time limit; a refusal says the next move."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from tenacity import (
    Retrying,
    before_sleep_log,
    retry_if_exception,
    stop_after_delay,
    wait_random_exponential,
)

from sluice.errors import BrokerUnavailable, SettingsError

log = logging.getLogger(__name__)

TIMEOUT_S = 15.0
_FORBIDDEN = (
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
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


class NoSuchTopic(BrokerUnavailable):
    """The broker does not know the topic, or no longer knows it; the next request will show."""


def ask(address: str, question: Callable[[], Any], seconds: float = TIMEOUT_S) -> Any:
    """The answer, or the future's result. Retries for `seconds` while a group has no coordinator.

    Raises BrokerUnavailable, which names the address, when no answer comes in time; NoSuchTopic;
    SettingsError when the connection's user is not authorized.
    """
    again = Retrying(
        retry=retry_if_exception(_lacks_coordinator),
        wait=wait_random_exponential(multiplier=0.2, max=2),
        stop=stop_after_delay(seconds),
        before_sleep=before_sleep_log(log, logging.INFO),
        reraise=True,
    )
    try:
        return again(_answer, question)
    except KafkaException as problem:
        raise _meant(address, problem.args[0]) from problem
    except TimeoutError as problem:
        raise _unavailable(address, "no answer") from problem


def _answer(question: Callable[[], Any]) -> Any:
    answer = question()
    return answer.result(TIMEOUT_S + 5) if isinstance(answer, Future) else answer


def _lacks_coordinator(problem: BaseException) -> bool:
    return isinstance(problem, KafkaException) and problem.args[0].code() in _NO_COORDINATOR


def _meant(address: str, error: KafkaError) -> BrokerUnavailable | SettingsError:
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return NoSuchTopic(
            f"broker {address}: a topic was deleted while its state was read."
            " Nothing was changed; run again."
        )
    if error.code() in _FORBIDDEN:
        return SettingsError(
            f"broker {address}: {error.str()}. The connection's user needs Describe,"
            " DescribeConfigs and Read on the topics, and Read on the consumer group."
        )
    return _unavailable(address, error.str())


def _unavailable(address: str, why: str) -> BrokerUnavailable:
    return BrokerUnavailable(
        f"broker {address}: {why}. Nothing was changed; run again when the broker answers."
    )
