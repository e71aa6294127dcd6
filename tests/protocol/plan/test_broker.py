"""The embedded broker is a real one: it keeps what it was told, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from local.embedded.broker import Broker
from tests.worlds.records import end

pytestmark = pytest.mark.integration

OWNER = """
import sys, time
from local.embedded.broker import Broker
broker = Broker(sys.argv[1]).start()
print(*broker.pids, flush=True)
time.sleep(600)
"""


def transactional(broker: Broker, name: str) -> Producer:
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": name, "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(30)
    return producer


def committed_values(broker: Broker, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "test-broker",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "log_level": 0,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        # A commit is answered before its markers are written (KIP-98).
        return [message.value() for message in consumer.consume(count, timeout=60)]
    finally:
        consumer.close()


def test_only_committed_transactions_are_read(broker: Broker, topic: Callable[..., str]) -> None:
    name = topic()
    producer = transactional(broker, name)
    for value in ("aborted", "committed"):
        producer.begin_transaction()
        producer.produce(name, value)
        finish = producer.commit_transaction if value == "committed" else producer.abort_transaction
        finish(30)
    assert committed_values(broker, name, count=1) == [b"committed"]


def test_records_survive_a_kill_and_the_address_stays(
    own_broker: Broker, own_topic: Callable[..., str]
) -> None:
    name, address = own_topic(), own_broker.bootstrap
    producer = transactional(own_broker, "survivor")
    producer.begin_transaction()
    producer.produce(name, "kept")
    end(own_broker.bootstrap, name, producer, commit=True)
    own_broker.kill()
    assert own_broker.pids == []
    own_broker.start()
    assert own_broker.bootstrap == address
    assert committed_values(own_broker, name, count=1) == [b"kept"]


def test_a_stopped_broker_leaves_no_process(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as own:
        pids = own.pids
        assert len(pids) == 2, "the guard and the JVM"
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_broker_ends_with_its_owner(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path / "broker")]
    root = Path(__file__).resolve().parents[3]
    env = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as owner:
        assert owner.stdout is not None
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        assert len(pids) == 2
        owner.send_signal(number)
    deadline = time.monotonic() + 30
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def alive(pid: int) -> bool:
    """A zombie is dead: in a container nobody may be there to bury it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
