"""What producers, brokers and admins do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sluice.offsets.ranges import TopicPartition

from tests.simulation.actions.registry import action, pick
from tests.simulation.books import Key
from tests.simulation.history import Draws
from tests.simulation.settings import GONE, UNAVAILABLE
from tests.simulation.told import cursors, planned_ends, read_tables
from tests.simulation.world import World
from tests.worlds.memory_log import Batch, MemoryKafka, Partition, Record, Transaction

_PARTITIONS = (1, 1, 2, 3)


def _some_partition(world: World, draw: int) -> TopicPartition | None:
    found = [
        TopicPartition(topic.name, number)
        for topic in world.kafka.topics.values()
        for number in range(len(topic.partitions))
    ]
    return pick(found, draw) if found else None


def _record(world: World, kind: int, at: TopicPartition) -> Record:
    """A record; one in seven cannot be decoded, some only as long as `extra` is declared."""
    world.produced += 1
    number = world.produced
    keyed = _keyed(world, at, kind) if world.setting.has_state else {}
    key = b"k%d" % keyed.get("id", number % 3)
    headers = (("trace", b"%d" % number), ("none", None)) if number % 4 == 0 else ()
    values = {
        16: b"{broken",
        17: json.dumps({"id": number, "extra": "text", **keyed}).encode(),
        18: json.dumps({"id": number, "extra": "text", **keyed}).encode(),
        19: None,
    }
    usual = json.dumps({"id": number, "extra": number, **keyed}).encode()
    value = values.get(kind % 20, usual)
    now = int(world.clock.now().timestamp() * 1000)
    far = {3: 86_400_000 * 365, 7: -86_400_000, 9: -3_600_000}.get(kind // 20 % 24, 0)
    has_no_key = keyed and at.topic not in world.setting.compacting and kind // 480 % 37 == 5
    return Record(value, None if has_no_key else key, now + far, headers)


def _keyed(world: World, at: TopicPartition, kind: int) -> dict[str, Any]:
    """Few keys, mostly those of the partition; some events are late, as late as others, or lack
    a value.
    """
    number = world.produced
    strays = 8 if world.keys.get("state", {}).get("order_by") else 60
    home = 0 if kind % strays == 1 else 1 + at.partition + 4 * (at.topic != "t")
    late = kind // 20 % 4
    return {
        "id": 10 * home + number % 3,
        "seq": number - (0, 0, 3, 7)[late],
        "name": ("a", "b", UNAVAILABLE, GONE, "c")[kind // 7 % 5],
    }


def _produce(
    world: World, at: TopicPartition, draws: Draws, transaction: Transaction | None = None
) -> None:
    _, count, kind, several = draws
    records = [_record(world, kind // (each + 1) + each, at) for each in range(1 + count % 4)]
    batches = [[each] for each in records] if several % 2 else [records]
    for batch in batches:
        found = world.kafka.produce(at.topic, at.partition, batch, transaction)
        values = ", ".join(str(each.value) for each in batch)
        world.tell(f"{at} [{found.start}, {found.stop}) produced: {values}")


@action(60)
def produce(world: World, draws: Draws) -> None:
    """A few records into one partition."""
    if at := _some_partition(world, draws[0]):
        _produce(world, at, draws)


@action()
def transaction_begins(world: World, draws: Draws) -> None:
    """Records of a transaction that stays open."""
    if at := _some_partition(world, draws[0]):
        transaction = world.kafka.begin()
        world.transactions.append(transaction)
        world.tell("in a transaction:")
        _produce(world, at, draws, transaction)


def _end(world: World, draw: int, commits: bool) -> None:
    if world.transactions:
        transaction = world.transactions.pop(draw % len(world.transactions))
        world.tell("a transaction is " + ("committed" if commits else "aborted"))
        (world.kafka.commit if commits else world.kafka.abort)(transaction)


@action()
def transaction_commits(world: World, draws: Draws) -> None:
    """It ends well."""
    _end(world, draws[0], commits=True)


@action()
def transaction_aborts(world: World, draws: Draws) -> None:
    """It ends badly."""
    _end(world, draws[0], commits=False)


@action()
def aborted_records(world: World, draws: Draws) -> None:
    """A whole transaction, aborted."""
    transaction_begins(world, draws)
    if world.transactions:
        _end(world, len(world.transactions) - 1, commits=False)


@action()
def retention_deletes(world: World, draws: Draws) -> None:
    """The log start moves on."""
    if at := _some_partition(world, draws[0]):
        end = world.kafka.log(at.topic, at.partition).end
        to = draws[1] % (end + 1)
        start = world.kafka.delete_records(at, to)
        world.tell(f"{at}: the log starts at {start}")


@action(4, fault=True)
def a_segment_is_lost(world: World, draws: Draws) -> None:
    """Records in the middle of a log are gone."""
    if at := _some_partition(world, draws[0]):
        end = world.kafka.log(at.topic, at.partition).end
        start = draws[1] % (end + 1)
        if world.kafka.topics[at.topic].compact:
            return  # There it looks like compaction.
        world.kafka.lose(at, start, start + 1 + draws[2] % 3)
        world.tell(f"{at} [{start}, {start + 1 + draws[2] % 3}) lost on a disk")


@action(12)
def the_log_cleaner_comes(world: World, draws: Draws) -> None:
    """Topics that compact are compacted."""
    for name, topic in list(world.kafka.topics.items()):
        if topic.compact:
            world.kafka.compact(name)
            world.tell(f"{name}: compacted")


@action(4)
def another_leader(world: World, draws: Draws) -> None:
    """A clean election."""
    for name in world.kafka.topics:
        world.kafka.elect(name)
    world.tell("another leader for every partition")


@action(4, fault=True)
def an_unclean_election(world: World, draws: Draws) -> None:
    """A log ends earlier."""
    if at := _some_partition(world, draws[0]):
        before = _logs(world)
        end = world.kafka.log(at.topic, at.partition).end
        found = world.kafka.truncate(at, draws[1] % (end + 1))
        _replaced(world, before)
        world.tell(f"{at}: ends at {found} after an unclean election")


@action(6, fault=True)
def topic_deleted(world: World, draws: Draws) -> None:
    """A topic is gone."""
    if names := sorted(world.kafka.topics):
        name = pick(names, draws[0])
        world.kafka.delete_topic(name)
        world.tell(f"{name}: deleted")


@action(10, fault=True)
def topic_created_anew(world: World, draws: Draws) -> None:
    """A topic of the spec is there once more, under another id."""
    names = sorted(world.setting.topics)
    name = pick(names, draws[0])
    if name in world.kafka.topics:
        world.kafka.delete_topic(name)
    partitions = pick(_PARTITIONS, draws[1])
    compact = name in world.setting.compacting
    topic_id = world.kafka.create_topic(name, partitions, compact=compact)
    world.tell(f"{name}: created anew as {topic_id}, {partitions} partitions")


@action(6)
def partition_added(world: World, draws: Draws) -> None:
    """A topic grows."""
    if names := sorted(world.kafka.topics):
        name = pick(names, draws[0])
        total = len(world.kafka.topics[name].partitions) + 1
        if total <= 4:
            world.kafka.add_partitions(name, total)
            world.tell(f"{name}: {total} partitions")


@action(8)
def brokers_copied(world: World, draws: Draws) -> None:
    """Somebody keeps a copy of the brokers' data."""
    world.broker_copies.append(world.kafka.copy())
    world.tell(f"brokers copied: copy {len(world.broker_copies)}")


@action(8, fault=True)
def brokers_put_back(world: World, draws: Draws) -> None:
    """The brokers come back with a copy of their data."""
    if world.broker_copies:
        before, number = _logs(world), draws[0] % len(world.broker_copies)
        world.kafka.put_back(world.broker_copies[number])
        world.transactions = [each for each in world.transactions if world.kafka.is_open(each)]
        _replaced(world, before)
        world.tell(f"brokers put back: copy {number + 1}")


def _logs(world: World) -> dict[tuple[str, int], Partition]:
    return {
        (topic.topic_id, number): log
        for topic in world.kafka.topics.values()
        for number, log in enumerate(topic.partitions)
    }


def _replaced(world: World, before: Mapping[tuple[str, int], Partition]) -> None:
    """Note the partitions whose log is another one below the cursor, or below what is planned.

    A batch that is planned may have been read. Only of a topic that does not compact its commit
    tells.
    """
    tables = read_tables(world)
    ends, planned = cursors(tables), planned_ends(tables)
    for place, log in _logs(world).items():
        end = ends.get(place, 0)
        if world.books.names.get(place[0]) in world.setting.compacting:
            end = max(end, planned.get(place, 0))
        if end and (place not in before or _below(before[place], end) != _below(log, end)):
            world.replaced.add(place)
        last = planned.get(place, 0)
        lost = world.books.gone.get(Key(*place, last - 1)) == "segment"
        if lost and last > end and _below(before[place], last) != _below(log, last):
            # Of the record before the cursor nothing has told yet that it is lost.
            world.untold.add(place)


def _below(log: Partition, end: int) -> list[Batch]:
    return [each for each in log.batches if each.base_offset < end]


@action(3, fault=True)
def another_cluster(world: World, draws: Draws) -> None:
    """The connection leads to another cluster, with other topics of the same names."""
    world.transactions.clear()
    world.broker_copies.clear()
    world.kafka = MemoryKafka(world.clock, world.chance, f"cluster-{world.chance.name()[:8]}")
    for name, partitions in world.setting.topics.items():
        world.kafka.create_topic(name, partitions, compact=name in world.setting.compacting)
    world.tell(f"another cluster: {world.kafka.cluster_id}")


@action(3)
def the_group_is_forgotten(world: World, draws: Draws) -> None:
    """Kafka forgets the offsets of a group without members."""
    for name in list(world.kafka.groups):
        world.kafka.forget(name)
    world.tell("Kafka has forgotten its groups")


@action(5)
def days_pass(world: World, draws: Draws) -> None:
    """Time passes, and retention by time comes."""
    days = pick((1, 8, 31, 400), draws[0])
    world.clock.advance(timedelta(days=days))
    world.kafka.expire()
    world.tell(f"{days} days pass")
