"""The cluster: admin requests to Kafka, and the mirror of the cursor in a consumer group."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as WirePartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType
from tenacity import (
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    retry_if_not_exception_type,
    stop_after_delay,
    wait_fixed,
)

from sluice.broker.answers import TIMEOUT_S, Asked, NoSuchTopic, Refusals, ask
from sluice.broker.client_logs import LIBRDKAFKA
from sluice.broker.client_settings import ClientSettings
from sluice.broker.group_offsets import commit_group_offsets, read_group_offsets
from sluice.broker.topic_ids import require_topic_id
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.offsets.partition_log import KafkaState, PartitionLog, Retention
from sluice.offsets.ranges import TopicPartition

log = logging.getLogger(__name__)

_PAUSE_S = 0.5


class TopicSelection(Protocol):
    """Which topics are read: the listed ones, else all whose name is selected."""

    @property
    def topics(self) -> list[str] | None:
        """The listed names; None where topics are selected by name."""

    def selects(self, topic: str) -> bool:
        """Whether a topic of this name is read."""


class KafkaCluster:
    """Admin requests to one cluster, and the mirror of the cursor in a consumer group.

    Every method raises BrokerUnavailable, which names the broker, when no answer comes in time, and
    SettingsError when the connection is refused, or its user has not the rights.
    """

    def __init__(self, client: ClientSettings) -> None:
        self._client = client
        refusals = Refusals()
        try:
            self._admin = AdminClient(
                {**client.librdkafka(), "error_cb": refusals}, logger=LIBRDKAFKA
            )
        except KafkaException as problem:
            raise SettingsError(
                f"connection {client.connection}: {problem.args[0].str()}. Correct its extra."
            ) from None
        self._asked = Asked(client, refusals, partial(self._admin.poll, 0))

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
        cluster = self._start(lambda: self._admin.describe_cluster(request_timeout=TIMEOUT_S))
        topic_ids = self._topics(self._selected(selection))
        partitions = [
            WirePartition(topic, number)
            for topic, (_, numbers) in topic_ids.items()
            for number in numbers
        ]
        # Two at once, but the last alone and last: else a record written in between looks held back
        # by an open transaction, or a log start may be behind the end.
        # read_committed asks for the LSO, read_uncommitted for the high watermark (KIP-98).
        both = OffsetSpec.earliest(), OffsetSpec.latest()
        asked = [self._asked_offsets(partitions, each) for each in both]
        starts, ends = map(self._told_offsets, asked)
        stable = self._list_offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)
        logs = {
            each: PartitionLog(
                topic_id=topic_ids[each.topic][0],
                log_start_offset=starts[each].offset,
                last_stable_offset=stable[each].offset,
                end_offset=max(ends[each].offset, stable[each].offset),
                leader_epoch=ends[each].leader_epoch,
            )
            for each in starts
        }
        return KafkaState(self._ask(partial(_itself, cluster)).cluster_id, logs)

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset whose record is at or after the moment; None where none is."""
        # To Kafka, -1 and -2 mean the log's two ends (its protocol's ListOffsets).
        at = OffsetSpec.for_timestamp(max(0, int(moment.timestamp() * 1000)))
        found = self._list_offsets(
            [WirePartition(each.topic, each.partition) for each in partitions], at
        )
        return {each: info.offset if info.offset >= 0 else None for each, info in found.items()}

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""
        found = read_group_offsets(self._client, group, partitions)
        return {each: found.get(each) for each in partitions}

    def mirror(self, group: str, cursor: Mapping[TopicPartition, int]) -> None:
        """Commit the cursor as a consumer group's offsets, except where a log is gone."""
        there = self._topics(sorted({each.topic for each in cursor}))
        offsets = {
            each: end
            for each, end in cursor.items()
            if each.topic in there and each.partition in there[each.topic][1]
        }
        if offsets:
            commit_group_offsets(self._client, group, offsets)

    def topic_names(self) -> list[str]:
        """The names of all topics that the connection's user may see, in order."""
        metadata = self._ask(lambda: self._admin.list_topics(timeout=TIMEOUT_S))
        return sorted(metadata.topics)

    def compacts(self, topic: str) -> bool:
        """Whether the topic's cleanup policy compacts."""
        return topic in self.compacting([topic])

    def compacting(self, topics: Iterable[str]) -> frozenset[str]:
        """Those of the topics whose cleanup policy compacts: one request for all."""
        found = self._settings(topics)
        return frozenset(
            name for name, each in found.items() if "compact" in each["cleanup.policy"]
        )

    def retentions(self, topics: Iterable[str]) -> Mapping[str, Retention]:
        """When Kafka deletes the topics' records."""
        return {topic: _retention(found) for topic, found in self._settings(topics).items()}

    def _settings(self, topics: Iterable[str]) -> dict[str, dict[str, str]]:
        resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
        if not resources:
            return {}
        futures = self._ask(
            lambda: self._admin.describe_configs(resources, request_timeout=TIMEOUT_S)
        )
        answers = {
            each.name: self._ask(
                partial(_itself, futures[each]), f"DESCRIBE_CONFIGS on topic {each.name}"
            )
            for each in resources
        }
        return {
            topic: {name: entry.value for name, entry in answer.items()}
            for topic, answer in answers.items()
        }

    def _selected(self, selection: TopicSelection) -> list[str]:
        if selection.topics is not None:
            return selection.topics
        return [topic for topic in self.topic_names() if selection.selects(topic)]

    def _topics(self, topics: list[str]) -> dict[str, tuple[str, list[int]]]:
        futures = self._ask(
            lambda: self._admin.describe_topics(TopicCollection(topics), request_timeout=TIMEOUT_S)
        )
        found = {}
        for topic, future in futures.items():
            try:
                answer = self._ask(partial(_itself, future), f"DESCRIBE on topic {topic}")
            except NoSuchTopic:
                continue
            topic_id = require_topic_id(topic, str(answer.topic_id))
            found[topic] = (topic_id, [each.id for each in answer.partitions])
        return found

    def _list_offsets(
        self,
        partitions: list[WirePartition],
        at: OffsetSpec,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[TopicPartition, Any]:
        return self._told_offsets(self._asked_offsets(partitions, at, isolation))

    def _asked_offsets(
        self,
        partitions: list[WirePartition],
        at: OffsetSpec,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[WirePartition, Future[Any]]:
        """The offsets asked for, by futures: nothing waits for an answer yet."""
        futures: dict[WirePartition, Future[Any]] = self._start(
            lambda: self._admin.list_offsets(
                dict.fromkeys(partitions, at),
                isolation_level=isolation,
                request_timeout=TIMEOUT_S,
            )
        )
        return futures

    def _told_offsets(
        self, futures: Mapping[WirePartition, Future[Any]]
    ) -> dict[TopicPartition, Any]:
        return {
            TopicPartition(each.topic, each.partition): self._ask(
                partial(_itself, future), f"DESCRIBE on topic {each.topic}"
            )
            for each, future in futures.items()
        }

    def _start(self, request: Callable[[], Any]) -> Any:
        """Send a request; its answer is one future or several, which nothing waits for."""
        return self._ask(lambda: (request(),))[0]

    def _ask(self, question: Callable[[], Any], needs: str = "") -> Any:
        return ask(self._asked, question, needs)


def _retention(settings: Mapping[str, str]) -> Retention:
    if "delete" not in settings["cleanup.policy"]:
        return Retention(None)
    period, size = int(settings["retention.ms"]), int(settings["retention.bytes"])
    return Retention(timedelta(milliseconds=period) if period >= 0 else None, size >= 0)


def _itself(future: Future[Any]) -> Future[Any]:
    return future
