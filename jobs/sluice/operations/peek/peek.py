"""A peek into a topic: which records are read. Nothing is written, and no group is joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.broker.port import Cluster, NamedTopics, Sample
from sluice.errors import RegistryUnavailable, SettingsError, did_you_mean
from sluice.offsets.partition_log import Logs
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.operations.peek.packing import Unpacked, unpacked
from sluice.operations.peek.proposal import propose_spec
from sluice.operations.peek.samples import Samples
from sluice.operations.peek.sampling import End, range_at, shares

if TYPE_CHECKING:
    from sluice.operations.peek.answers import Answers
    from sluice.registry.client import Registry

Position = tuple[TopicPartition, int]


@dataclass(frozen=True)
class Peek:
    """Some records of a topic that can hold `offsets` of them.

    `registry` is the connection of a schema registry that was asked, with its `answers`, or with
    the `refusal` that says why there are none. `known_registry` was not asked, but could be.
    """

    topic: str
    connection: str
    samples: tuple[Sample, ...]
    partitions: int
    offsets: int
    registry: str = ""
    answers: Answers | None = None
    refusal: str = ""
    known_registry: str = ""

    @cached_property
    def opened(self) -> Unpacked:
        """The values without their compression."""
        return unpacked({str(each): each.value for each in self.samples})

    @cached_property
    def spec(self) -> str:
        """The YAML text of a spec; it names those of the samples that it would quarantine."""
        headers = {str(each): each.headers for each in self.samples}
        samples = Samples.of(self.opened, headers)
        compression = self.opened.compression
        if self.answers is not None:
            # Most topics do without these.
            from sluice.operations.peek.registered_proposal import propose_registered

            return propose_registered(self.connection, self.answers, samples, compression)
        known = self.known_registry
        return propose_spec(self.topic, self.connection, samples, compression, known)


def peek(
    client: ClientSettings,
    topic: str,
    count: int,
    begin: End | Position,
    registry: Registry | None = None,
    known_registry: str = "",
) -> Peek:
    """Read at most `count` records: at an end of all partitions, or from one position on.

    A registry that gives no answer leaves the records as they are. Raises SettingsError for an
    unknown topic, partition or offset, or a missing right, and BrokerUnavailable.
    """
    kafka = KafkaCluster(client)
    logs = kafka.state(NamedTopics([topic])).logs
    if not logs:
        found = kafka.topic_names()
        raise SettingsError(
            f"broker {client.bootstrap}: expected a topic {topic!r}, found none of that name among"
            f" {len(found):,}{did_you_mean(topic, found)}. Create it, or correct the name."
        )
    samples = (
        _at_an_end(kafka, logs, count, begin)
        if isinstance(begin, End)
        else kafka.samples([_from(logs, *begin)], count)
    )
    held = sum(log.last_stable_offset - log.log_start_offset for log in logs.values())
    peeked = Peek(
        topic, client.connection, tuple(samples), len(logs), held, known_registry=known_registry
    )
    return peeked if registry is None else _with_answers(peeked, registry)


def _with_answers(found: Peek, registry: Registry) -> Peek:
    from sluice.operations.peek.asking import ask

    found = replace(found, registry=registry.connection)
    try:
        answers = ask(registry, found.topic, found.samples, found.opened.values)
    except (RegistryUnavailable, SettingsError) as problem:
        return replace(found, refusal=str(problem))
    return replace(found, answers=answers)


def _at_an_end(kafka: Cluster, logs: Logs, count: int, end: End) -> list[Sample]:
    wanted = shares(logs, count)
    ranges = [range_at(end, at, logs[at], share) for at, share in wanted.items()]
    # Reading more of the first records than the largest share would be in vain.
    most = max(wanted.values(), default=0)
    found = kafka.samples(ranges, most if end is End.EARLIEST else count * 3 + 10)
    kept = []
    for at, share in sorted(wanted.items()):
        of_it = [each for each in found if each.partition == at]
        kept += of_it[:share] if end is End.EARLIEST else of_it[-share:]
    return kept


def _from(logs: Logs, at: TopicPartition, offset: int) -> OffsetRange:
    if at not in logs:
        raise SettingsError(
            f"{at}: no such partition; the topic has {len(logs)}: 0 to {len(logs) - 1}"
        )
    log = logs[at]
    if log.nearest(offset) != offset:
        raise SettingsError(
            f"{at}: expected an offset in [{log.log_start_offset}, {log.last_stable_offset}),"
            f" found {offset}"
        )
    return OffsetRange(at, offset, log.last_stable_offset)
