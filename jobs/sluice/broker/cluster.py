"""The cluster: one Kafka cluster, asked with three clients, each for what only it can answer."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

from confluent_kafka import IsolationLevel
from confluent_kafka import TopicPartition as WirePartition
from confluent_kafka.admin import OffsetSpec
from tenacity import (
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    retry_if_not_exception_type,
    stop_after_delay,
    wait_fixed,
)

from sluice.broker.admin_requests import AdminRequests
from sluice.broker.answers import TIMEOUT_S, NoSuchTopic
from sluice.broker.client_settings import ClientSettings
from sluice.broker.group_offsets import GroupOffset, commit_group_offsets, read_group_offsets
from sluice.broker.port import ReadOffsets, Sample, TopicEnd, TopicSelection
from sluice.broker.reader import offsets_reader, read_open_since, read_timestamps
from sluice.broker.samples import read_samples
from sluice.errors import BrokerUnavailable
from sluice.offsets.log_page import LogPage
from sluice.offsets.notation import Positions
from sluice.offsets.partition_log import KafkaState, Logs, PartitionLog, Retention
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span

log = logging.getLogger(__name__)

_PAUSE_S = 0.5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class KafkaCluster:
    """One cluster: its logs, its consumer groups and its records. Implements the port `Cluster`.

    The client of the raw log is loaded where it is asked: most commands never do.
    """

    def __init__(self, client: ClientSettings) -> None:
        self._client = client
        self._admin = AdminRequests(client)

    def state(self, selection: TopicSelection) -> KafkaState:
        """The current logs of the selected topics; missing topics are left out.

        A request that fails at once, as when a leader has just died, is repeated for 15 s.
        """
        again = Retrying(
            retry=retry_if_exception_type(BrokerUnavailable)
            & retry_if_not_exception_type(NoSuchTopic),
            wait=wait_fixed(_PAUSE_S),
            stop=stop_after_delay(TIMEOUT_S),
            before_sleep=before_sleep_log(log, logging.INFO),
            reraise=True,
        )
        return again(self._state, selection)

    def _state(self, selection: TopicSelection) -> KafkaState:
        before = datetime.now(UTC)
        cluster_id = self._admin.start_cluster_id()
        topic_ids = self._admin.topics(self._selected(selection))
        partitions = [
            WirePartition(topic, number)
            for topic, (_, numbers) in topic_ids.items()
            for number in numbers
        ]
        # Two at once, but the last alone and last: else a record written in between looks held back
        # by an open transaction, or a log start may be behind the end.
        # read_committed asks for the LSO, read_uncommitted for the high watermark (KIP-98).
        both = OffsetSpec.earliest(), OffsetSpec.latest()
        asked = [self._admin.start_offsets(partitions, each) for each in both]
        starts, ends = map(self._admin.told_offsets, asked)
        stable = self._admin.offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)
        logs = {
            each: PartitionLog.told(
                topic_id=topic_ids[each.topic][0],
                start=starts[each].offset,
                stable=stable[each].offset,
                end=ends[each].offset,
                epoch=ends[each].leader_epoch,
            )
            for each in starts
        }
        return KafkaState(cluster_id(), logs, before)

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset whose record is at or after the moment; None where none is."""
        # To Kafka, -1 and -2 mean the log's two ends (its protocol's ListOffsets).
        at = OffsetSpec.for_timestamp(max(0, (moment - _EPOCH) // _MILLISECOND))
        found = self._admin.offsets(
            [WirePartition(each.topic, each.partition) for each in partitions], at
        )
        return {each: info.offset if info.offset >= 0 else None for each, info in found.items()}

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none for this topic."""
        found = read_group_offsets(self._client, group, partitions)
        ends = {each: TopicEnd(at.topic_id, at.offset) for each, at in found.items() if at.topic_id}
        mirrored = self._still_there(ends) if ends else {}
        return {
            each: None
            if (at := found.get(each)) is None or each in ends.keys() - mirrored.keys()
            else at.offset
            for each in partitions
        }

    def mirror(self, group: str, cursor: Mapping[TopicPartition, TopicEnd]) -> None:
        """Commit the cursor as a consumer group's offsets, where its topic is still there."""
        if ends := self._still_there(cursor):
            commit_group_offsets(
                self._client,
                group,
                {each: GroupOffset(at.end, at.topic_id) for each, at in ends.items()},
            )

    def _still_there(
        self, cursor: Mapping[TopicPartition, TopicEnd]
    ) -> Mapping[TopicPartition, TopicEnd]:
        there = self._admin.topics(sorted({each.topic for each in cursor}))
        ids = {TopicPartition(name, at): id_ for name, (id_, all_) in there.items() for at in all_}
        return {each: at for each, at in cursor.items() if ids.get(each) == at.topic_id}

    def topic_names(self) -> list[str]:
        """The names of all topics that the connection's user may see, in order."""
        return self._admin.topic_names()

    def compacting(self, topics: Iterable[str]) -> frozenset[str]:
        """Those of the topics whose cleanup policy compacts: one request for all."""
        found = self._admin.settings(topics)
        return frozenset(name for name, each in found.items() if _compacts(each))

    def retentions(self, topics: Iterable[str]) -> Mapping[str, Retention]:
        """When Kafka deletes the topics' records."""
        return {topic: _retention(found) for topic, found in self._admin.settings(topics).items()}

    def fingerprints(self, cursor: Positions) -> Mapping[TopicPartition, str | None]:
        """The fingerprint of the record batch before each offset; None where the log has none."""
        from sluice.broker.batch_probes import read_fingerprints

        return read_fingerprints(self._client, cursor)

    def raw_log(
        self,
        partition: TopicPartition,
        missing: Sequence[Span],
        *,
        timeout: float = 30.0,
        patience: float = 3.0,
    ) -> Iterator[LogPage]:
        """The log where offsets are missing, a page at a time, in order."""
        from sluice.broker.raw_log import read_raw_log

        return read_raw_log(self._client, partition, missing, timeout=timeout, patience=patience)

    def offsets_reader(self) -> AbstractContextManager[ReadOffsets]:
        """A reader of the offsets in one range after the other, over the same connection."""
        return offsets_reader(self._client)

    def samples(self, wanted: Iterable[OffsetRange], at_most: int) -> list[Sample]:
        """The first `at_most` committed records of each range, in order."""
        return read_samples(self._client, wanted, at_most)

    def timestamps(self, starts: Positions) -> Mapping[TopicPartition, datetime]:
        """The timestamp of the first committed record at or after each offset."""
        return read_timestamps(self._client, starts)

    def open_since(self, logs: Logs) -> Mapping[TopicPartition, datetime]:
        """Since when a transaction has been open, for partitions that have one."""
        return read_open_since(self._client, logs)

    def bytes_per_offset(self, starts: Positions) -> Mapping[TopicPartition, float]:
        """The compressed bytes per offset from each offset on; unknown ones are left out."""
        from sluice.broker.batch_probes import read_bytes_per_offset

        return read_bytes_per_offset(self._client, starts)

    def _selected(self, selection: TopicSelection) -> list[str]:
        if selection.topics is not None:
            return selection.topics
        return [topic for topic in self.topic_names() if selection.selects(topic)]


def _compacts(settings: Mapping[str, str]) -> bool:
    """Whether the cleanup policy compacts."""
    return "compact" in settings["cleanup.policy"]


def _retention(settings: Mapping[str, str]) -> Retention:
    """When Kafka deletes the topic's records."""
    if "delete" not in settings["cleanup.policy"]:
        return Retention(None)
    period, size = int(settings["retention.ms"]), int(settings["retention.bytes"])
    return Retention(timedelta(milliseconds=period) if period >= 0 else None, size >= 0)
