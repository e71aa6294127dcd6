"""The cluster in memory: the port `Cluster` for one client of the brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from itertools import islice

from sluice.broker.port import ReadOffsets, Sample, TopicEnd, TopicSelection
from sluice.broker.reader import record_moment
from sluice.offsets.log_page import LogPage
from sluice.offsets.notation import Positions
from sluice.offsets.partition_log import KafkaState, Logs, PartitionLog, Retention
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span

from tests.worlds.memory_log.brokers import MemoryKafka
from tests.worlds.memory_log.consumed import (
    MemoryRecord,
    RangeNotThere,
    consumed,
    first_at,
    first_uncommitted,
    records_in,
)
from tests.worlds.memory_log.questions import Questions, unavailable
from tests.worlds.memory_log.raw_pages import bytes_per_offset, fingerprint_before, page_at

# How long the real clients ask, which their errors say.
_RAW_LOG_S, _PROBE_S, _SIZES_S = 30.0, 15.0, 5.0


class MemoryCluster:
    """What the product may ask. `asked` is called before each question, with its name.

    Where the real one sends several requests, there are several questions.
    """

    def __init__(self, kafka: MemoryKafka, asked: Callable[[str], None] | None = None) -> None:
        self._kafka = kafka
        self._questions = Questions(kafka, asked or (lambda question: None))

    # The logs as they are now

    def state(self, selection: TopicSelection) -> KafkaState:
        """The current logs of the selected topics; missing topics are left out."""
        asked, chosen = self._kafka.clock.now(), selection.topics
        if chosen is None:
            chosen = [name for name in self.topic_names() if selection.selects(name)]
        there = self._questions.ask("topics").topics
        found = [there[name] for name in dict.fromkeys(chosen) if name in there]
        ids = {
            TopicPartition(topic.name, number): topic.topic_id
            for topic in found
            for number in range(len(topic.partitions))
        }
        self._questions.ask("log starts and ends")
        logs = {each: self._questions.log(each) for each in ids}
        self._questions.ask("last stable offsets")
        stable = {each: self._questions.log(each).last_stable_offset for each in ids}
        states = {
            each: PartitionLog.told(
                topic_id=ids[each],
                start=log.log_start,
                stable=stable[each],
                end=log.end,
                epoch=log.leader_epoch,
            )
            for each, log in logs.items()
        }
        return KafkaState(self._kafka.cluster_id, states, asked)

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset whose record is at or after the moment; None where none is."""
        self._questions.ask("offsets for time")
        at = max(0, (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1))
        return {each: first_at(self._questions.log(each), at) for each in partitions}

    def topic_names(self) -> list[str]:
        """The names of all topics, in order."""
        return sorted(self._questions.ask("topic names").topics)

    def compacting(self, topics: Iterable[str]) -> frozenset[str]:
        """Those of the topics whose cleanup policy compacts."""
        self._questions.ask("topic settings")
        return frozenset(name for name in topics if self._questions.topic(name).compact)

    def retentions(self, topics: Iterable[str]) -> Mapping[str, Retention]:
        """When Kafka deletes the topics' records."""
        self._questions.ask("topic settings")
        return {name: self._questions.topic(name).retention for name in topics}

    # Consumer groups

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""
        committed = self._questions.ask("group offsets").groups.get(group, {})
        found: dict[TopicPartition, int | None] = dict.fromkeys(partitions)
        if any(at.words for at in committed.values()):
            self._questions.ask("topics")
        for each in partitions:
            at = committed.get(each)
            if at is not None and at.words in ("", self._topic_id(each)):
                found[each] = at.offset
        return found

    def _topic_id(self, partition: TopicPartition) -> str | None:
        topic = self._kafka.topics.get(partition.topic)
        return topic.topic_id if topic and self._kafka.has(partition) else None

    def mirror(self, group: str, cursor: Mapping[TopicPartition, TopicEnd]) -> None:
        """Commit the cursor as a consumer group's offsets, where its topic is still there."""
        self._questions.ask("topics")
        there = {each: at for each, at in cursor.items() if self._topic_id(each) == at.topic_id}
        if not there:
            return
        kafka = self._questions.ask("mirror")
        if group in kafka.in_use:
            raise unavailable("Broker: Unknown member")
        for each, at in there.items():
            kafka.commit_group(group, {each: at.end}, at.topic_id)

    # What the logs hold

    def fingerprints(self, cursor: Positions) -> Mapping[TopicPartition, str | None]:
        """The fingerprint of the record batch before each offset; None where the log has none."""
        found: dict[TopicPartition, str | None] = dict.fromkeys(cursor)
        asked = {each: offset for each, offset in cursor.items() if offset > 0}
        if asked:
            self._questions.announce("fingerprints")
        for each, offset in asked.items():
            log = self._questions.raw(OffsetRange(each, offset - 1, offset), _PROBE_S)
            found[each] = fingerprint_before(log, offset)
        return found

    def raw_log(
        self,
        partition: TopicPartition,
        missing: Sequence[Span],
        *,
        timeout: float = _RAW_LOG_S,
        patience: float = 3.0,
    ) -> Iterator[LogPage]:
        """The log where offsets are missing, a page at a time, in order."""
        reached = 0
        for start, end in missing:
            while reached < end:
                self._questions.announce("raw log")
                wanted = OffsetRange(partition, max(start, reached), missing[-1][1])
                page = page_at(self._questions.raw(wanted, timeout), wanted.start, wanted.end)
                reached = page.end
                yield page

    def offsets_reader(self) -> AbstractContextManager[ReadOffsets]:
        """A reader of the offsets in one range after the other."""
        return nullcontext(self._offsets)

    def _offsets(self, wanted: OffsetRange) -> Iterator[list[int]]:
        if not wanted.span:
            return
        self._questions.announce("offsets")
        log = self._questions.consumed(wanted)
        found = [offset for offset, _ in consumed(log, wanted.start, wanted.end)]
        if found:
            yield found

    def samples(self, wanted: Iterable[OffsetRange], at_most: int) -> list[Sample]:
        """The first `at_most` committed records of each range, in order."""
        ranges = {each.partition: each for each in wanted if each.span}
        if ranges:
            self._questions.announce("samples")
        found = []
        for partition, each in sorted(ranges.items()):
            log = self._questions.consumed(each)
            for offset, record in islice(consumed(log, each.start, each.end), at_most):
                moment = record_moment(record.milliseconds)
                found.append(Sample(partition, offset, moment, record.key, record.value))
        return found

    def timestamps(self, starts: Positions) -> Mapping[TopicPartition, datetime]:
        """The timestamp of the first committed record at or after each offset."""
        if starts:
            self._questions.announce("timestamps")
        found = {}
        for each, log, start in self._questions.answering(starts):
            first = next(consumed(log, start), None)
            if first and (moment := record_moment(first[1].milliseconds)):
                found[each] = moment
        return found

    def open_since(self, logs: Logs) -> Mapping[TopicPartition, datetime]:
        """Since when a transaction has been open, for partitions that have one."""
        held_back = {
            each: log.last_stable_offset
            for each, log in logs.items()
            if log.last_stable_offset < log.end_offset
        }
        if held_back:
            self._questions.announce("open since")
        found = {}
        for each, log, start in self._questions.answering(held_back, committed=False):
            first = first_uncommitted(log, start)
            if first and (moment := record_moment(first.milliseconds)):
                found[each] = moment
        return found

    def bytes_per_offset(self, starts: Positions) -> Mapping[TopicPartition, float]:
        """The bytes per offset from each offset on; unknown ones are left out."""
        if starts:
            self._questions.announce("bytes per offset")
        found = {}
        for each, start in starts.items():
            log = self._questions.raw(OffsetRange(each, start, start + 1), _SIZES_S)
            found[each] = bytes_per_offset(log, start)
        return {each: size for each, size in found.items() if size is not None}

    # For the lake in memory, which stands where Spark's reader stands

    def records(self, wanted: OffsetRange) -> list[MemoryRecord]:
        """All committed records of a range. Raises RangeNotThere where Spark's reader fails."""
        self._questions.announce("records")
        log = next(self._questions.answering({wanted.partition: wanted.start}), None)
        if log is None:
            raise RangeNotThere(f"{wanted}: no answer")
        return records_in(log[1], wanted)
