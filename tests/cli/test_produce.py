"""`sluice produce`: each line is one record, once; every mistake says where it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from local.embedded.broker import Broker
from local.embedded.ports import free_port
from local.embedded.waiting import until
from tests.worlds.processes import SLUICE
from tests.worlds.records import admin

pytestmark = pytest.mark.integration

ORDERS = b'{"id": 1, "who": "ann"}\n\n{"id": 22, "who": null}\r\n{"id": "\xc3\xa4", "who": "eve"}'
VALUES = [
    b'{"id": 1, "who": "ann"}',
    b'{"id": 22, "who": null}',
    b'{"id": "\xc3\xa4", "who": "eve"}',
]


def environment(bootstrap: str) -> dict[str, str]:
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    return {**os.environ, "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection)}


def produced(
    broker: Broker | str, topic: str, *options: str, lines: bytes = ORDERS
) -> subprocess.CompletedProcess[str]:
    bootstrap = broker if isinstance(broker, str) else broker.bootstrap
    words = [str(SLUICE), "produce", topic, *options]
    done = subprocess.run(words, input=lines, env=environment(bootstrap), capture_output=True)
    return subprocess.CompletedProcess(
        words, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def held(broker: Broker, topic: str, partitions: int = 1) -> list[tuple[bytes | None, bytes]]:
    """Key and value of every record of the topic, sorted by value."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "t",
        "enable.partition.eof": True,
    }
    consumer = Consumer({**settings, "allow.auto.create.topics": False})
    consumer.assign([TopicPartition(topic, at, 0) for at in range(partitions)])
    found, ended = [], 0
    while ended < partitions:
        message = consumer.poll(15)
        assert message is not None
        if message.error():
            ended += 1
        else:
            found.append((message.key(), message.value()))
    consumer.close()
    return sorted(found, key=lambda each: each[1])


def fails(done: subprocess.CompletedProcess[str], *expected: str) -> None:
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert [text for text in expected if text not in done.stderr] == [], done.stderr


def test_each_line_is_one_record_in_a_topic_that_is_created_when_asked_for(broker: Broker) -> None:
    done = produced(broker, "orders-1", "--partitions", "3", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"topic": "orders-1", "records": 3, "created": True}
    assert held(broker, "orders-1", 3) == [(None, each) for each in sorted(VALUES)]
    again = produced(broker, "orders-1", "--partitions", "3", "--key", "who")
    assert again.stdout == "orders-1: 3 records delivered\n"
    keys = [key for key, _ in held(broker, "orders-1", 3) if key]
    assert sorted(keys) == [b"ann", b"eve"]
    other = produced(broker, "orders-1", "--partitions", "4")
    fails(other, "topic orders-1: expected 4 partitions", "found 3", "Leave the option out")


def test_raw_lines_and_files(broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"no json\n\nlast\n")
    done = produced(broker, "raw-1", str(file), "--raw", "--partitions", "1", lines=b"")
    assert done.returncode == 0, done.stderr
    assert held(broker, "raw-1") == [(None, b""), (None, b"last"), (None, b"no json")]


def test_a_topic_that_is_missing_is_not_created_by_itself(broker: Broker) -> None:
    assert produced(broker, "cities", "--partitions", "1").returncode == 0
    fails(produced(broker, "citis"), "expected a topic 'citis'", "did you mean cities?", "--part")
    fails(produced(broker, "a b", "--partitions", "1"), "expected a topic's name")
    time.sleep(2)
    assert "citis" not in admin(broker.bootstrap).list_topics(timeout=15).topics


def test_a_bad_line_is_named_and_what_was_delivered_before_it_is_told(broker: Broker) -> None:
    first = produced(broker, "bad-1", "--partitions", "1", lines=b'{"id": 1\n')
    fails(first, "line 1: expected a JSON value on one line, found '{\"id\": 1'", "--raw")
    assert "bad-1" not in admin(broker.bootstrap).list_topics(timeout=15).topics
    third = produced(broker, "bad-2", "--partitions", "1", lines=b"1\n2\nx\n4\n")
    fails(third, "line 3: expected a JSON value", "Delivered before it: 2 records.")
    assert held(broker, "bad-2") == [(None, b"1"), (None, b"2")]
    for lines, said in ((b'{"ids": 1}', "did you mean ids?"), (b"[1]", "found list")):
        fails(produced(broker, "bad-2", "--key", "id", lines=lines), "line 1: expected", said)
    wide = b'"' + b"x" * 2_000_000 + b'"\n'
    fails(produced(broker, "bad-2", lines=b"1\n" + wide), "line 2: broker", "size")


@pytest.mark.parametrize("redirected", ["</dev/null", "<&-"])
def test_nothing_to_produce_is_an_error(broker: Broker, redirected: str) -> None:
    line = f"{SLUICE} produce none-1 --partitions 1 {redirected}"
    done = subprocess.run(
        ["bash", "-c", line], env=environment(broker.bootstrap), capture_output=True, text=True
    )
    fails(done, "standard input", "expected records, one JSON value per line")
    assert "none-1" not in admin(broker.bootstrap).list_topics(timeout=15).topics


def test_wrong_usage_and_a_broker_that_is_down(broker: Broker) -> None:
    assert produced(broker, "any", "--raw", "--key", "id").returncode == 2
    assert produced(broker, "any", "--partitions", "0").returncode == 2
    nowhere = produced(f"127.0.0.1:{free_port()}", "any")
    fails(nowhere, "BrokerUnavailable: broker 127.0.0.1:")


def test_ctrl_c_says_how_many_records_were_delivered(broker: Broker) -> None:
    words = [str(SLUICE), "produce", "slow-1", "--partitions", "1"]
    process = subprocess.Popen(
        words,
        env=environment(broker.bootstrap),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write("1\n2\n")
    process.stdin.flush()
    assert process.stdout.readline() == "slow-1: created, with 1 partition\n"
    until(lambda: len(held(broker, "slow-1")) == 2, "two records")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert errors == "interrupted: slow-1: 2 records delivered\n"
