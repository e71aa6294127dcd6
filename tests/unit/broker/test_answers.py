"""An answer that only has to be waited for is waited for; all others are told at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException
from sluice.broker.answers import Addressee, NoSuchTopic, Refusals, ask
from sluice.broker.client_settings import ClientSettings, RightMissing
from sluice.errors import BrokerUnavailable, SettingsError, SluiceError

NO_COORDINATOR = [
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
]
CLIENT = ClientSettings("kafka_default", {"bootstrap.servers": "b:1"})
ASKED = Addressee(CLIENT, Refusals(), lambda: None)
NEEDED = r"the user of connection kafka_default needs READ on topic orders\."


def failing(code: int, times: int) -> tuple[Callable[[], str], list[int]]:
    """A question that fails so many times, and how often it was asked."""
    asked: list[int] = []

    def question() -> str:
        asked.append(code)
        if len(asked) <= times:
            raise KafkaException(KafkaError(code))
        return "done"

    return question, asked


@pytest.mark.patient
@pytest.mark.parametrize("code", NO_COORDINATOR)
def test_a_group_that_has_no_coordinator_yet_is_asked_again(code: int) -> None:
    question, asked = failing(code, times=3)
    assert ask(ASKED, question) == "done"
    assert len(asked) == 4


def test_a_future_that_reports_no_coordinator_is_asked_for_anew() -> None:
    failed, done = Future[str](), Future[str]()
    failed.set_exception(KafkaException(KafkaError(KafkaError.NOT_COORDINATOR)))
    done.set_result("done")
    futures = iter([failed, done])
    assert ask(ASKED, lambda: next(futures)) == "done"


@pytest.mark.patient
def test_a_group_without_a_coordinator_is_given_up_within_a_bound() -> None:
    question, asked = failing(KafkaError.NOT_COORDINATOR, times=1_000_000)
    started = time.monotonic()
    with pytest.raises(BrokerUnavailable, match=r"broker b:1: .*[Nn]ot.coordinator.* run again"):
        ask(ASKED, question, seconds=1)
    assert 1 <= time.monotonic() - started < 5
    assert len(asked) > 2


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (KafkaError.GROUP_AUTHORIZATION_FAILED, RightMissing, NEEDED),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, RightMissing, NEEDED),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, NoSuchTopic, "a topic was deleted"),
        (KafkaError._TIMED_OUT, BrokerUnavailable, "run again when the broker answers"),
    ],
)
def test_all_else_is_told_at_once(code: int, kind: type[SluiceError], text: str) -> None:
    question, asked = failing(code, times=1)
    with pytest.raises(kind, match=text) as told:
        ask(ASKED, question, "READ on topic orders")
    assert type(told.value) is kind
    assert len(asked) == 1


def refused(code: int, why: str, waiting: bool = True) -> type[SluiceError]:
    """How a question ends that gets no answer, as the client cannot connect."""
    refusals = Refusals()
    asked = Addressee(CLIENT, refusals, lambda: refusals(KafkaError(code, why)))
    question = Future[str] if waiting else failing(KafkaError._TIMED_OUT, 1)[0]
    with pytest.raises(SluiceError, match=f"broker b:1: .*{why}") as told:
        ask(asked, question)
    return type(told.value)


@pytest.mark.patient
@pytest.mark.parametrize("waiting", [True, False])
@pytest.mark.parametrize(
    ("code", "why"),
    [
        (KafkaError._AUTHENTICATION, "invalid credentials"),
        (KafkaError._SSL, "certificate verify failed"),
        (KafkaError._TRANSPORT, "tls alert certificate unknown"),
    ],
)
def test_a_refused_connection_is_not_tried_again(code: int, why: str, waiting: bool) -> None:
    assert refused(code, why, waiting) is SettingsError


def test_a_handshake_that_breaks_off_may_succeed_the_next_time() -> None:
    assert refused(KafkaError._SSL, "Disconnected", waiting=False) is BrokerUnavailable


def test_a_refusal_that_an_answer_came_after_is_no_reason() -> None:
    refusals, done = Refusals(), Future[str]()
    refusals(KafkaError(KafkaError._AUTHENTICATION, "invalid credentials"))
    done.set_result("done")
    asked = Addressee(CLIENT, refusals, lambda: None)
    assert ask(asked, lambda: done) == "done"
    with pytest.raises(BrokerUnavailable):
        ask(asked, failing(KafkaError._TIMED_OUT, 1)[0])
