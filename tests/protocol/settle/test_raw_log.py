"""What the raw log says accounts for every offset that a read_committed consumer does not see."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from sluice.broker.raw_log import read_raw_log
from sluice.errors import BrokerUnavailable
from sluice.offsets.log_page import LogPage
from sluice.offsets.log_verdicts import missing_ranges
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.ranges import TopicPartition as Partition
from sluice.offsets.receipts import GapCount, Span
from sluice.protocol.settle.gaps import Gaps

from local.embedded.broker import Broker
from tests.conftest import topic_factory
from tests.unit.builders import explain
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.records import settings_for, wait_for_markers

pytestmark = pytest.mark.integration

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@dataclass
class Written:
    """Where the records went, by the fate of their transaction."""

    committed: list[int] = field(default_factory=list)
    aborted: list[int] = field(default_factory=list)


class Writer:
    """A producer that remembers its offsets; without a name it writes plain records."""

    def __init__(self, broker: Broker, topic: str, name: str = "", codec: str = "none") -> None:
        settings = {
            "bootstrap.servers": broker.bootstrap,
            "compression.type": codec,
            "linger.ms": 20,
            "log_level": 0,
        }
        if name:
            settings["transactional.id"] = f"{topic}-{name}"
        self.topic = topic
        self.producer = Producer(settings)
        self.pending: list[int] = []
        if name:
            self.producer.init_transactions(30)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def write(self, keys: Sequence[str], value: str = "value " * 5) -> None:
        for key in keys:
            self.producer.produce(self.topic, value, key, partition=0, on_delivery=self._delivered)
        assert self.producer.flush(30) == 0

    def _delivered(self, error: object, message: object) -> None:
        assert error is None, error
        self.pending.append(message.offset())  # type: ignore[attr-defined]

    def end(self, written: Written, commit: bool = True) -> None:
        if commit:
            self.producer.commit_transaction(30)
        else:
            self.producer.abort_transaction(30)
        self.settle(written.committed if commit else written.aborted)

    def settle(self, into: list[int]) -> None:
        into.extend(self.pending)
        self.pending = []


def keys(count: int, distinct: int = 1_000_000) -> list[str]:
    return [f"key-{number % distinct}" for number in range(count)]


def seen_by_a_consumer(broker: Broker, topic: str) -> tuple[Span, list[int]]:
    """The log from its start to the LSO, and the offsets that a read_committed client sees."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "test-raw-log",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    try:
        start, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
        consumer.assign([TopicPartition(topic, 0, start)])
        offsets: list[int] = []
        while (message := consumer.poll(20)) is not None and message.error() is None:
            offsets.append(message.offset())
        assert message is not None, "the consumer did not reach the end"
        return (start, end), offsets
    finally:
        consumer.close()


def pages(broker: Broker, topic: str, missing: Sequence[Span]) -> list[LogPage]:
    return list(
        read_raw_log(settings_for(broker.bootstrap), Partition(topic, 0), missing, timeout=20)
    )


def explained(broker: Broker, topic: str, *, compacts: bool = False) -> GapCount:
    """The gaps by kind; and records that are there are never taken for explained."""
    span, seen = seen_by_a_consumer(broker, topic)
    missing = missing_ranges(span, seen)
    gaps = explain(missing, pages(broker, topic, missing), compacts=compacts)
    assert gaps.unexplained == ()
    count = gaps.explained
    assert count.total == span[1] - span[0] - len(seen)

    all_lost = explain([span], pages(broker, topic, [span]), compacts=compacts)
    assert all_lost.explained == count
    assert offsets_of(all_lost, LossKind.PRESENT) == seen
    return count


def offsets_of(gaps: Gaps, cause: LossKind) -> list[int]:
    assert {gap.cause for gap in gaps.unexplained} <= {cause}
    return [at for gap in gaps.unexplained for at in range(gap.start, gap.end)]


@pytest.mark.parametrize("codec", CODECS)
def test_committed_aborted_and_plain_records_are_told_apart(
    broker: Broker, topic: Callable[..., str], codec: str
) -> None:
    name, written = topic(), Written()
    plain, first, second = (Writer(broker, name, each, codec) for each in ("", "first", "second"))
    for first_commits, second_commits in [(True, False), (False, True), (False, False)]:
        first.begin()
        first.write(keys(20))
        second.begin()
        second.write(keys(30))
        plain.write(keys(10))
        first.write(keys(5))
        first.end(written, first_commits)
        second.write(keys(7))
        second.end(written, second_commits)
    plain.settle(written.committed)
    wait_for_markers(broker.bootstrap, name)
    span, seen = seen_by_a_consumer(broker, name)
    assert seen == sorted(written.committed)
    assert explained(broker, name) == GapCount(control=6, aborted=len(written.aborted))
    assert span[1] == len(written.committed) + len(written.aborted) + 6


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_interleaved_transactions_are_accounted_for(
    broker: Broker, topic: Callable[..., str], seed: int
) -> None:
    name, written, chance = topic(), Written(), random.Random(seed)
    writers = [Writer(broker, name, f"writer-{number}") for number in range(4)]
    plain, open_now, ended = Writer(broker, name), set[int](), 0
    for _ in range(80):
        number = chance.randrange(5)
        if number == 4:
            plain.write(keys(chance.randint(1, 5)))
        elif number not in open_now:
            writers[number].begin()
            writers[number].write(keys(chance.randint(1, 50)))
            open_now.add(number)
        elif chance.random() < 0.5:
            writers[number].write(keys(chance.randint(1, 50)))
        else:
            writers[number].end(written, commit=chance.random() < 0.5)
            open_now.remove(number)
            ended += 1
    for number in open_now:
        writers[number].end(written, commit=False)
    wait_for_markers(broker.bootstrap, name)
    assert explained(broker, name) == GapCount(ended + len(open_now), len(written.aborted))


def test_an_open_transaction_bounds_the_log(broker: Broker, topic: Callable[..., str]) -> None:
    name, written = topic(), Written()
    done, hanging = Writer(broker, name, "done"), Writer(broker, name, "hanging")
    done.begin()
    done.write(keys(5))
    done.end(written)
    hanging.begin()
    hanging.write(keys(5))
    gaps = explain([(5, 11)], pages(broker, name, [(5, 11)]), compacts=False)
    assert gaps.explained == GapCount(control=1)
    assert offsets_of(gaps, LossKind.BEYOND) == [6, 7, 8, 9, 10]
    hanging.end(written, commit=False)


def test_an_answer_without_records_has_to_stay_so(
    broker: Broker, topic: Callable[..., str]
) -> None:
    name, hanging = topic(), Writer(broker, topic(), "hanging")
    hanging.topic = name
    hanging.begin()
    hanging.write(keys(5))
    asked = settings_for(broker.bootstrap)
    started = time.monotonic()
    read = list(read_raw_log(asked, Partition(name, 0), [(0, 5)], timeout=20, patience=6))
    assert 6 <= time.monotonic() - started < 15
    assert [page.batches for page in read] == [()]
    hanging.end(Written(), commit=False)


def test_compacted_records_are_explained_in_every_codec(
    broker: Broker, topic: Callable[..., str]
) -> None:
    """Every key but a few comes again later, so that thinned out batches are left."""
    writers = [Writer(broker, topic(**COMPACTED), codec=codec) for codec in CODECS]
    for writer in writers:
        writer.write(keys(1000))
        writer.write([key for number, key in enumerate(keys(1000)) if number % 7])
    compact(broker.bootstrap, [writer.topic for writer in writers])
    for writer in writers:
        assert explained(broker, writer.topic, compacts=True) == GapCount(compacted=857)
        (read,) = pages(broker, writer.topic, [(0, 1000)])
        assert any(0 < len(batch.offsets) < batch.span for batch in read.batches)


def test_a_compacted_topic_with_transactions_is_accounted_for(
    broker: Broker, topic: Callable[..., str]
) -> None:
    name, written = topic(**COMPACTED), Written()
    writers = [Writer(broker, name, f"writer-{number}") for number in range(3)]
    for turn in range(12):
        writer = writers[turn % 3]
        writer.begin()
        writer.write(keys(60, distinct=40 + turn))
        writer.end(written, commit=turn % 4 != 1)
        time.sleep(0.15)
    compact(broker.bootstrap, [name])
    count = explained(broker, name, compacts=True)
    assert count.compacted > 0
    assert count.control > 0


def test_a_moved_log_start_leaves_what_is_below_unexplained(
    broker: Broker, topic: Callable[..., str]
) -> None:
    name, written = topic(), Written()
    writer = Writer(broker, name, "writer")
    for commit in (True, False, True):
        writer.begin()
        writer.write(keys(100))
        writer.end(written, commit)
    wait_for_markers(broker.bootstrap, name)
    delete_records(broker, name, before=150)
    assert explained(broker, name) == GapCount(control=2, aborted=51)
    everything = [(0, 303)]
    gaps = explain(everything, pages(broker, name, everything), compacts=True)
    below = [gap for gap in gaps.unexplained if gap.cause is LossKind.DELETED]
    assert [(gap.start, gap.end) for gap in below] == [(0, 150)]
    assert gaps.as_lost() == GapCount(control=2, aborted=51, lost=250)


def test_a_log_that_was_emptied_explains_nothing(broker: Broker, topic: Callable[..., str]) -> None:
    name = topic()
    Writer(broker, name).write(keys(10))
    delete_records(broker, name, before=10)
    gaps = explain([(3, 12)], pages(broker, name, [(3, 12)]), compacts=True)
    assert [(gap.start, gap.end, gap.cause) for gap in gaps.unexplained] == [
        (3, 10, LossKind.DELETED),
        (10, 12, LossKind.BEYOND),
    ]


def delete_records(broker: Broker, topic: str, before: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    asked = TopicPartition(topic, 0, before)
    admin.delete_records([asked])[asked].result(timeout=15)


def test_only_where_offsets_are_missing_the_log_is_read(
    broker: Broker, topic: Callable[..., str]
) -> None:
    name = topic()
    Writer(broker, name).write(keys(6000), value="x" * 2000)
    missing = [(10, 11), (11, 12), (3000, 3001), (5999, 6000)]
    read = pages(broker, name, missing)
    assert len(read) == 3
    gaps = explain(missing, read, compacts=True)
    assert offsets_of(gaps, LossKind.PRESENT) == [10, 11, 3000, 5999]


def test_a_broker_that_comes_back_is_asked_again(own_broker: Broker) -> None:
    name = topic_factory(own_broker)()
    Writer(own_broker, name).write(keys(3000), value="x" * 2000)
    asked = settings_for(own_broker.bootstrap)
    reading = read_raw_log(asked, Partition(name, 0), [(0, 3000)], timeout=60)
    read = [next(reading)]
    own_broker.kill()
    own_broker.start()
    read.extend(reading)
    gaps = explain([(0, 3000)], read, compacts=False)
    assert offsets_of(gaps, LossKind.PRESENT) == list(range(3000))


def test_a_broker_that_is_away_is_named_in_time() -> None:
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    secret = {"sasl.username": "reader", "sasl.password": "hidden"}
    away = settings_for("127.0.0.1:1", **login, **secret)
    started = time.monotonic()
    with pytest.raises(BrokerUnavailable, match=r"127\.0\.0\.1:1 within 2 s") as refused:
        list(read_raw_log(away, Partition("flights", 3), [(5, 9)], timeout=2))
    assert "flights[3] [5, 9)" in str(refused.value)
    assert "hidden" not in str(refused.value)
    assert time.monotonic() - started < 10


def test_an_unknown_topic_is_named_in_time(broker: Broker) -> None:
    asked = settings_for(broker.bootstrap)
    with pytest.raises(BrokerUnavailable, match="UnknownTopicOrPartition"):
        list(read_raw_log(asked, Partition("never-made", 0), [(5, 9)], timeout=2))


def test_nothing_missing_asks_nobody() -> None:
    assert list(read_raw_log(settings_for("127.0.0.1:1"), Partition("x", 0), [])) == []
