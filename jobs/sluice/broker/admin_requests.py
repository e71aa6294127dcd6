"""Admin requests to one cluster: each is sent, and its answer waited for, within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as WirePartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType

from sluice.broker.answers import TIMEOUT_S, Addressee, NoSuchTopic, Refusals, ask
from sluice.broker.client_logs import LIBRDKAFKA
from sluice.broker.client_settings import ClientSettings
from sluice.errors import SettingsError
from sluice.offsets.ranges import TopicPartition


class AdminRequests:
    """Questions to librdkafka's admin client. Each raises as the port `Cluster` says."""

    def __init__(self, client: ClientSettings) -> None:
        refusals = Refusals()
        try:
            self._admin = AdminClient(
                {**client.librdkafka(), "error_cb": refusals}, logger=LIBRDKAFKA
            )
        except KafkaException as problem:
            raise client.unusable(problem.args[0].str()) from None
        self._asked = Addressee(client, refusals, partial(self._admin.poll, 0))

    def start_cluster_id(self) -> Callable[[], str]:
        """Ask for the cluster's id; the answer is waited for when it is called."""
        asked = self._start(lambda: self._admin.describe_cluster(request_timeout=TIMEOUT_S))
        return lambda: self._ask(partial(_itself, asked)).cluster_id

    def topic_names(self) -> list[str]:
        """The names of all topics that the connection's user may see, in order."""
        metadata = self._ask(lambda: self._admin.list_topics(timeout=TIMEOUT_S))
        names: Iterable[str] = metadata.topics
        return sorted(names)

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic, with the broker's own settings for it."""
        futures = self._ask(
            lambda: self._admin.create_topics(
                [NewTopic(topic, partitions)],
                operation_timeout=TIMEOUT_S,
                request_timeout=TIMEOUT_S,
            )
        )
        self._ask(partial(_itself, futures[topic]), f"CREATE on topic {topic}")

    def settings(self, topics: Iterable[str]) -> dict[str, dict[str, str]]:
        """The configuration of each topic: one request for all."""
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

    def topics(self, topics: list[str]) -> dict[str, tuple[str, list[int]]]:
        """The id and the partitions of each topic; missing topics are left out."""
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

    def offsets(
        self,
        partitions: list[WirePartition],
        at: OffsetSpec,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[TopicPartition, Any]:
        """The offsets at a position."""
        return self.told_offsets(self.start_offsets(partitions, at, isolation))

    def start_offsets(
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

    def told_offsets(
        self, futures: Mapping[WirePartition, Future[Any]]
    ) -> dict[TopicPartition, Any]:
        """The answers to `start_offsets`."""
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


def _itself(future: Future[Any]) -> Future[Any]:
    return future


def require_topic_id(topic: str, reported: str) -> str:
    """A topic's id as Kafka writes it. Raises SettingsError for a broker that reports none."""
    # librdkafka writes the id in plain base64, Kafka in the URL-safe form (KIP-516).
    found = reported.rstrip("=").replace("+", "-").replace("/", "_")
    if not found.strip("A"):
        raise SettingsError(
            f"{topic}: expected a topic id, found none: the broker reports no topic ids (KIP-516),"
            " and without them a topic created anew cannot be told from the old one. Upgrade the"
            " cluster to Kafka 2.8 or later, with inter.broker.protocol.version 2.8 or later:"
            " existing topics get their ids then."
        )
    return found
