"""The port `Cluster`: both tell the same of the logs, the topics and the groups."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sluice.broker.port import TopicEnd, TopicSelection
from sluice.errors import BrokerUnavailable
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.partition_log import KafkaState, PartitionLog, Retention
from sluice.offsets.receipts import GapCount
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap

from tests.contracts.driver import Driver, transact
from tests.contracts.memory_driver import MemoryDriver
from tests.contracts.questions import (
    at,
    bounds,
    explained,
    fingerprint,
    log,
    millis,
    offsets,
    read,
    state,
)
from tests.worlds.memory_log import MemoryCluster
from tests.worlds.records import numbered

DAY = datetime(2024, 5, 1, tzinfo=UTC)


def test_the_state_is_of_the_topics_that_are_there(driver: Driver) -> None:
    one, other = driver.topic(2), driver.topic()
    driver.produce(one, numbered(3))
    found = state(driver, one, "nowhere", other)
    assert set(found.logs) == {at(one), at(one, 1), at(other)}
    ids = {each.topic: log.topic_id for each, log in found.logs.items()}
    for topic_id in ids.values():
        assert len(topic_id) == 22
    assert ids[one] != ids[other]
    assert found.logs[at(one)] == PartitionLog(ids[one], 0, 3, 3, 0)
    assert found.logs[at(one, 1)] == PartitionLog(ids[one], 0, 0, 0, 0)
    assert found.cluster_id == state(driver, one).cluster_id != ""


def test_an_open_transaction_holds_the_last_stable_offset(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(2))
    transact(driver, topic, numbered(2), commit=True)
    assert bounds(driver, topic) == (0, 5, 5)
    before = datetime.now(UTC) - timedelta(seconds=1)
    driver.begin(topic, numbered(2))
    driver.produce(topic, numbered(3))
    assert bounds(driver, topic) == (0, 5, 10)
    logs = state(driver, topic).logs
    since = driver.cluster.open_since(logs)
    assert set(since) == {at(topic)}
    assert before < since[at(topic)] < datetime.now(UTC) + timedelta(seconds=1)
    assert read(driver, offsets(topic, 0, 10)) == [[0, 1, 2, 3]]
    assert driver.cluster.timestamps({at(topic): 5}) == {}
    assert explained(driver, topic, (3, 12)) == Gaps(
        GapCount(control=1),
        (UnexplainedGap(3, 4, LossKind.PRESENT), UnexplainedGap(5, 12, LossKind.BEYOND)),
    )


def test_no_transaction_is_open_where_none_holds_the_log_back(driver: Driver) -> None:
    topic = driver.topic()
    transact(driver, topic, numbered(2), commit=False)
    assert driver.cluster.open_since(state(driver, topic).logs) == {}


def test_the_log_start_moves_when_records_are_deleted(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(6))
    driver.produce(topic, numbered(4))
    driver.delete_records(topic, 4)
    assert bounds(driver, topic) == (4, 10, 10)
    assert explained(driver, topic, (1, 12)) == Gaps(
        GapCount(),
        (
            UnexplainedGap(1, 4, LossKind.DELETED),
            UnexplainedGap(4, 10, LossKind.PRESENT),
            UnexplainedGap(10, 12, LossKind.BEYOND),
        ),
    )
    held = [fingerprint(driver, topic, each) is not None for each in (0, 4, 5, 10, 11)]
    assert held == [False, False, True, True, False]
    driver.delete_records(topic, 10)
    assert bounds(driver, topic) == (10, 10, 10)
    assert explained(driver, topic, (0, 10)).of_kind(LossKind.DELETED) == [(0, 10)]


def test_an_open_transaction_is_cut_at_the_log_start_to_whole_batches(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(2))
    transaction = driver.begin(topic, numbered(2))
    driver.produce(topic, numbered(1))
    driver.delete_records(topic, 3)
    assert bounds(driver, topic) == (3, 3, 5), "what is below the log start cannot be read"
    assert set(driver.cluster.open_since(state(driver, topic).logs)) == {at(topic)}
    driver.delete_records(topic, 4)
    assert bounds(driver, topic) == (4, 4, 5)
    driver.end(transaction, topic, commit=True)
    assert bounds(driver, topic) == (4, 6, 6)


def test_a_topic_created_anew_has_another_id_and_an_empty_log(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(3))
    old, mark = log(driver, topic), fingerprint(driver, topic, 3)
    driver.delete_topic(topic)
    assert state(driver, topic).logs == {}
    assert topic not in driver.cluster.topic_names()
    driver.topic(name=topic)
    new = log(driver, topic)
    assert new.topic_id != old.topic_id
    assert replace(new, topic_id="") == PartitionLog("", 0, 0, 0, 0)
    assert fingerprint(driver, topic, 3) is None
    driver.produce(topic, numbered(3, 7))
    assert fingerprint(driver, topic, 3) not in (None, mark)


def test_partitions_that_are_added_are_empty(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(3))
    driver.add_partitions(topic, 3)
    found = state(driver, topic).logs
    assert [found[at(topic, number)].end_offset for number in range(3)] == [3, 0, 0]
    assert len({each.topic_id for each in found.values()}) == 1


def test_an_offset_for_a_time_is_the_first_record_at_or_after_it(driver: Driver) -> None:
    topic = driver.topic(2, retention_ms=-1)
    for day in (1, 2, 1, 3):
        driver.produce(topic, numbered(2), timestamp=millis(DAY + timedelta(days=day)))

    def first(moment: datetime) -> int | None:
        return driver.cluster.offsets_for_time([at(topic)], moment)[at(topic)]

    step = timedelta(milliseconds=1)
    days = [DAY + timedelta(days=day) for day in (0, 1, 2, 3)]
    assert [first(day) for day in days] == [0, 0, 2, 6]
    assert first(days[2] + step) == 6
    assert first(days[3] + step) is None
    driver.delete_records(topic, 3)
    assert first(days[0]) == 3
    assert driver.cluster.offsets_for_time([at(topic, 1)], DAY) == {at(topic, 1): None}


def test_an_offset_for_a_time_may_be_an_aborted_record_or_a_marker(driver: Driver) -> None:
    topic = driver.topic(retention_ms=-1)
    driver.produce(topic, numbered(2), timestamp=millis(DAY))
    transact(driver, topic, numbered(2), commit=False)
    later = DAY + timedelta(days=1)
    assert driver.cluster.offsets_for_time([at(topic)], later) == {at(topic): 2}
    driver.delete_records(topic, 4)
    assert driver.cluster.offsets_for_time([at(topic)], later) == {at(topic): 4}


def test_names_and_settings_of_topics(driver: Driver) -> None:
    week, ever = driver.topic(), driver.topic(retention_ms=-1)
    day = driver.topic(retention_ms=86_400_000, retention_bytes=1 << 20)
    compacts = driver.topic(cleanup_policy="compact", retention_ms=-1)
    ours = [week, ever, day, compacts]
    found = driver.cluster.topic_names()
    assert found == sorted(found)
    assert set(ours) <= set(found)
    assert driver.cluster.compacting(ours) == {compacts}
    assert driver.cluster.compacting([]) == frozenset()
    assert driver.cluster.retentions(ours) == {
        week: Retention(timedelta(days=7)),
        ever: Retention(None),
        day: Retention(timedelta(days=1), by_size=True),
        compacts: Retention(None),
    }
    for question in (driver.cluster.compacting, driver.cluster.retentions):
        with pytest.raises(BrokerUnavailable, match="a topic was deleted while its state was read"):
            question(["nowhere"])


# Consumer groups


def test_a_group_has_the_offsets_that_were_committed_last(driver: Driver) -> None:
    topic, group = driver.topic(2), f"group-{uuid.uuid4().hex}"
    driver.produce(topic, numbered(9))
    both = [at(topic), at(topic, 1)]
    assert driver.cluster.group_offsets(group, both) == {both[0]: None, both[1]: None}
    driver.commit_group(group, topic, 4)
    assert driver.cluster.group_offsets(group, both) == {both[0]: 4, both[1]: None}
    is_it = log(driver, topic).topic_id
    ends = {both[0]: 2, both[1]: 0, at(topic, 5): 1, at("nowhere"): 3}
    driver.cluster.mirror(group, {each: TopicEnd(is_it, end) for each, end in ends.items()})
    found = driver.cluster.group_offsets(group, [*both, at(topic, 5), at("nowhere")])
    assert found == {both[0]: 2, both[1]: 0, at(topic, 5): None, at("nowhere"): None}


def test_a_group_forgets_what_it_committed_of_a_topic_that_is_deleted(driver: Driver) -> None:
    gone, stays = driver.topic(), driver.topic()
    group = f"group-{uuid.uuid4().hex}"
    ids = {each: log(driver, each).topic_id for each in (gone, stays)}
    driver.cluster.mirror(
        group, {at(gone): TopicEnd(ids[gone], 3), at(stays): TopicEnd(ids[stays], 5)}
    )
    driver.delete_topic(gone)
    driver.cluster.mirror(group, {at(gone): TopicEnd(ids[gone], 4)})
    driver.topic(name=gone)
    driver.cluster.mirror(group, {at(gone): TopicEnd(ids[gone], 4)})
    found = driver.cluster.group_offsets(group, [at(gone), at(stays)])
    assert found == {at(gone): None, at(stays): 5}
    # What others say of their own offsets is no topic id.
    driver.commit_group(group, gone, 0)
    assert driver.cluster.group_offsets(group, [at(gone)]) == {at(gone): 0}


# The contract refuses what errs


class _BlindToTransactions(MemoryCluster):
    def state(self, selection: TopicSelection) -> KafkaState:
        told = super().state(selection)
        logs = {
            each: replace(log, last_stable_offset=log.end_offset) for each, log in told.logs.items()
        }
        return replace(told, logs=logs)


def test_the_contract_refuses_a_cluster_that_is_blind_to_open_transactions() -> None:
    erring = MemoryDriver(_BlindToTransactions)
    with pytest.raises(AssertionError, match=r"\(0, 10, 10\) == \(0, 5, 10\)"):
        test_an_open_transaction_holds_the_last_stable_offset(erring)
