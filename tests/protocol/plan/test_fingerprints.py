"""Fingerprints come from the broker's own batches, and tell one log from another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from sluice.broker.batch_probes import read_fingerprints
from sluice.errors import BrokerUnavailable
from sluice.offsets.ranges import TopicPartition

from local.embedded.broker import Broker
from local.embedded.ports import free_port
from tests.worlds.records import delete_records, numbered, produce, settings_for, transactional

pytestmark = pytest.mark.integration

Topic = Callable[..., str]


def fingerprint(broker: Broker, topic: str, offset: int) -> str | None:
    at = TopicPartition(topic, 0)
    return read_fingerprints(settings_for(broker.bootstrap), {at: offset})[at]


def test_every_offset_of_a_record_batch_has_its_fingerprint(broker: Broker, topic: Topic) -> None:
    name = topic()
    for first in (0, 4):
        produce(broker.bootstrap, name, numbered(4, first))
    found = [fingerprint(broker, name, offset) for offset in range(1, 9)]
    assert all(found)
    changes = sum(one != other for one, other in pairwise(found))
    assert changes == len(set(found)) - 1 >= 1, "each record batch is one run of offsets"
    assert fingerprint(broker, name, 8) == found[-1]


def test_what_the_log_does_not_hold_is_unknown(broker: Broker, topic: Topic) -> None:
    name = topic()
    produce(broker.bootstrap, name, numbered(4))
    produce(broker.bootstrap, name, numbered(4))
    delete_records(broker.bootstrap, name, 5)
    held = [fingerprint(broker, name, offset) is not None for offset in (0, 4, 5, 6, 8, 9, 90)]
    assert held == [False, False, False, True, True, False, False]


def test_the_same_offsets_of_another_log_have_another_fingerprint(
    broker: Broker, topic: Topic
) -> None:
    one, other = topic(), topic()
    for name in (one, other):
        produce(broker.bootstrap, name, numbered(4))
    assert fingerprint(broker, one, 4) != fingerprint(broker, other, 4)


def test_a_marker_is_a_record_batch_too(broker: Broker, topic: Topic) -> None:
    name = topic()
    producer = transactional(broker.bootstrap)
    producer.produce(name, b"value", partition=0)
    producer.commit_transaction(30)
    found = fingerprint(broker, name, 2)
    assert found is not None
    assert found != fingerprint(broker, name, 1)


def test_a_batch_of_a_megabyte_is_fingerprinted_whole(broker: Broker, topic: Topic) -> None:
    """Also among others, of which one request asks for less of each."""
    name = topic(4)
    for number, size in enumerate((100, 900_000, 100_000, 100)):
        produce(broker.bootstrap, name, [b"x" * size], number)
    ends = {TopicPartition(name, number): 1 for number in range(4)}
    together = read_fingerprints(settings_for(broker.bootstrap), ends)
    assert all(together.values())
    for each, end in ends.items():
        assert (
            read_fingerprints(settings_for(broker.bootstrap), {each: end})[each] == together[each]
        )


def test_many_partitions_are_asked_at_once(broker: Broker, topic: Topic) -> None:
    name = topic(30)
    for number in range(0, 30, 2):
        produce(broker.bootstrap, name, numbered(2), number)
    ends = {TopicPartition(name, number): 2 - number % 2 * 2 for number in range(30)}
    found = read_fingerprints(settings_for(broker.bootstrap), ends)
    assert found.keys() == ends.keys()
    assert {each.partition for each, text in found.items() if text} == set(range(0, 30, 2))
    assert len(set(found.values())) == 16


def test_no_broker_is_no_answer_and_its_address_is_named() -> None:
    nobody = f"127.0.0.1:{free_port()}"
    with pytest.raises(BrokerUnavailable, match=rf"t\[0\] \[3, 4\): .* from {nobody} within 1 s"):
        read_fingerprints(settings_for(nobody), {TopicPartition("t", 0): 4}, timeout=1)


def test_nothing_to_compare_asks_nobody() -> None:
    nobody = settings_for(f"127.0.0.1:{free_port()}")
    at = TopicPartition("t", 0)
    assert read_fingerprints(nobody, {}) == {}
    assert read_fingerprints(nobody, {at: 0}) == {at: None}
