"""The oracle is alive (invariant 12): green on a correct world, red on each planted fault."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from local.broker import Broker
from tests.oracle import KafkaTruth, Verdict, judge, read_truth
from tests.oracle.faults import FAULTS, Fault, two_batches
from tests.oracle.world import World, decode

# The records are stamped in 2023: the default retention would drop them at once.
KEPT = {"retention.ms": "-1"}
pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def records(broker: Broker) -> tuple[str, KafkaTruth]:
    """A topic with all that is awkward: transactions, one aborted, headers, nulls, a bad value."""
    name = f"oracle-{uuid.uuid4().hex[:12]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, 2, 1, config=KEPT)])[name].result(timeout=15)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    send(producer, name, range(10))
    send(producer, name, range(100, 103), abort=True)
    send(producer, name, range(10, 20))
    return name, read_truth(broker.bootstrap, [name])


def send(producer: Producer, topic: str, ids: range, abort: bool = False) -> None:
    producer.begin_transaction()
    for number in ids:
        value: bytes | None = json.dumps({"id": number, "name": f"n{number}"}).encode()
        value = {4: None, 5: b"{not json"}.get(number, value)
        key = None if number == 3 else f"k{number}".encode()
        headers = [("h", str(number).encode()), ("h", None)] if number % 2 == 0 else None
        for partition in (0, 1):
            stamp = 1_700_000_000_000 + number
            producer.produce(topic, value, key, partition, timestamp=stamp, headers=headers)
    producer.flush(30)
    if abort:
        producer.abort_transaction(30)
    else:
        producer.commit_transaction(30)


def correct(truth: KafkaTruth) -> World:
    world = World(truth)
    two_batches(world)
    return world


def verdict_on(world: World, warehouse: Path, **expectations: object) -> Verdict:
    world.write(warehouse)
    given = {"truth": world.truth, "fmt": "json", "decode": decode} | expectations
    return judge("unused:0", warehouse, world.pipeline, world.table, [], **given)


def test_truth_is_what_a_read_committed_client_sees(records: tuple[str, KafkaTruth]) -> None:
    name, truth = records
    assert sorted(str(place) for place in truth.partitions.values()) == [f"{name}[0]", f"{name}[1]"]
    for place in truth.partitions.values():
        assert place.offsets.tolist() == [*range(10), *range(15, 25)]
        assert place.aborted.tolist() == [11, 12, 13]
        assert (place.log_start, place.end, place.compacts) == (0, 26, False)
    print(place.records.to_pylist()[4])


def test_a_correct_world_is_exact(records: tuple[str, KafkaTruth], tmp_path: Path) -> None:
    verdict = verdict_on(correct(records[1]), tmp_path)
    assert verdict.exact, str(verdict)
    facts = verdict.facts
    assert (facts.records, facts.rows, facts.quarantined, facts.committed) == (40, 38, 2, 2)
    assert verdict.notes == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.invariant}-{fault.name}")
def test_a_planted_fault_turns_it_red(
    records: tuple[str, KafkaTruth], tmp_path: Path, fault: Fault
) -> None:
    world = correct(records[1])
    fault.apply(world)
    verdict = verdict_on(world, tmp_path)
    assert fault.invariant in verdict.invariants, str(verdict)
