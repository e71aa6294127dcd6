"""The raw connection: requests in Kafka's wire protocol, each sent to the partition's leader."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aiokafka import errors
from aiokafka.client import AIOKafkaClient
from aiokafka.conn import create_conn
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.protocol.offset import OffsetRequest
from aiokafka.structs import TopicPartition as Address
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    retry_if_not_exception_type,
    wait_fixed,
)

from sluice.broker.client_settings import ClientSettings
from sluice.errors import BrokerUnavailable
from sluice.offsets.ranges import TopicPartition

_T = TypeVar("_T")

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
EARLIEST, LATEST = -2, -1
_FETCH_WAIT_MS = 500
_PAUSE_SECONDS = 0.25
_GOODBYE_SECONDS = 0.1

_NOT_PASSING = (
    ssl.SSLCertVerificationError,
    errors.AuthenticationFailedError,
    errors.ClusterAuthorizationFailedError,
    errors.IncompatibleBrokerVersion,
    errors.InvalidTopicError,
    errors.SaslAuthenticationFailed,
    errors.TopicAuthorizationFailedError,
    errors.UnsupportedCodecError,
    errors.UnsupportedVersionError,
)


class AskAgain(Exception):
    """An empty answer: the request was throttled, or another replica must be asked."""


_PASSING = (errors.KafkaError, OSError, TimeoutError, AskAgain)
_IS_PASSING = retry_if_exception_type(_PASSING) & retry_if_not_exception_type(_NOT_PASSING)


@dataclass(frozen=True)
class Fetched:
    """A leader's answer: record batches as bytes, and the bounds of the log."""

    last_stable_offset: int
    log_start_offset: int
    aborted: Sequence[Any]
    records: bytes


class RawConnection:
    """A connection to the cluster for one use, shared by all partitions that are read.

    Raises SettingsError when a certificate of the client is unusable.
    """

    def __init__(self, client: ClientSettings, timeout: float) -> None:
        self._settings = client
        self._arguments = client.aiokafka(timeout)
        self._timeout = timeout
        self._client: Any = None
        self._leaders: dict[TopicPartition, int] = {}
        self._one_at_a_time = asyncio.Lock()

    async def patiently(self, what: str, step: Callable[..., Awaitable[_T]], *given: Any) -> _T:
        """Repeat a step until it succeeds, cannot succeed, or the time is over."""
        cause: BaseException | None = None

        def remember(attempt: RetryCallState) -> None:
            nonlocal cause
            cause = attempt.outcome.exception() if attempt.outcome else None

        again = AsyncRetrying(
            retry=_IS_PASSING, wait=wait_fixed(_PAUSE_SECONDS), before_sleep=remember
        )
        try:
            async with asyncio.timeout(self._timeout):
                return await again(step, *given)
        except _NOT_PASSING as error:
            raise self._settings.unwelcome(f"{what}: the raw log is not shown: {error}") from error
        except TimeoutError:
            raise BrokerUnavailable(
                f"{what}: the raw log could not be read from {self._settings.bootstrap} within"
                f" {self._timeout:g} s; last answer: {repr(cause) if cause else 'none'}. Nothing"
                " was changed; try again"
            ) from cause

    async def fetch(
        self, partition: TopicPartition, start: int, size: int, isolation: int = READ_COMMITTED
    ) -> Fetched:
        """The batches from the one holding `start` on: about `size` bytes, at least one batch."""
        request = [(partition.topic, [(partition.partition, start, size)])]
        question = FetchRequest(_FETCH_WAIT_MS, 1, size, isolation, request)
        answer = await self._ask(partition, question, "READ")
        _, _, _, stable, log_start, aborted, *replica, records = answer
        # The preferred read replica, where there is one (KIP-392).
        if replica and replica[0] >= 0:
            self._leaders[partition] = replica[0]
            raise AskAgain(f"replica {replica[0]} must be asked")
        return Fetched(stable, log_start, aborted or (), records)

    async def fetch_together(
        self, asked: Mapping[TopicPartition, int], size: int
    ) -> dict[TopicPartition, bytes]:
        """The batches from the one holding each offset on, in one request to each leader.

        At most `size` bytes of each partition. Left out are partitions that have to be asked alone:
        with an error, without a leader, or with a batch that is larger.
        """
        client = await self._connected()
        by_leader: dict[int, dict[TopicPartition, int]] = {}
        for partition, start in asked.items():
            with contextlib.suppress(errors.LeaderNotAvailableError):
                leader = await self._leader(client, partition)
                by_leader.setdefault(leader, {})[partition] = start
        found: dict[TopicPartition, bytes] = {}
        for leader, starts in by_leader.items():
            by_topic: dict[str, list[tuple[int, int, int]]] = {}
            for partition, start in starts.items():
                by_topic.setdefault(partition.topic, []).append((partition.partition, start, size))
            request, most = list(by_topic.items()), size * len(starts)
            question = FetchRequest(_FETCH_WAIT_MS, 1, most, READ_UNCOMMITTED, request)
            for topic, answer in await self._sent(client, leader, question, starts):
                number, error, *_, records = answer
                if records and not error:
                    found[TopicPartition(topic, number)] = records
        return found

    async def offset(self, partition: TopicPartition, position: int) -> int:
        """Where the log begins, or where it ends for a read_committed reader."""
        request = [(partition.topic, [(partition.partition, position)])]
        question = OffsetRequest(-1, READ_COMMITTED, request)
        answer = await self._ask(partition, question, "DESCRIBE")
        return int(answer[3])

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def _ask(self, partition: TopicPartition, request: Any, right: str) -> Sequence[Any]:
        client = await self._connected()
        leader = await self._leader(client, partition)
        ((_, found),) = await self._sent(client, leader, request, [partition])
        with self._led_by_another([partition]):
            self._raise_for(found[1], f"{right} on topic {partition.topic}")
        return found

    async def _sent(
        self, client: Any, leader: int, request: Any, partitions: Iterable[TopicPartition]
    ) -> list[tuple[str, Sequence[Any]]]:
        """The leader's answer for each of the partitions, with its topic."""
        with self._led_by_another(partitions):
            answer = await client.send(leader, request)
            self._raise_for(getattr(answer, "error_code", 0))
        if not answer.topics:
            raise AskAgain(f"throttled for {answer.throttle_time_ms} ms")
        return [(topic, each) for topic, found in answer.topics for each in found]

    @contextlib.contextmanager
    def _led_by_another(self, partitions: Iterable[TopicPartition]) -> Iterator[None]:
        """After an error look the leaders up again, before the next request."""
        try:
            yield
        except (errors.KafkaError, OSError):
            for each in partitions:
                self._leaders.pop(each, None)
            raise

    async def _connected(self) -> Any:
        async with self._one_at_a_time:
            if self._client is None:
                client = AIOKafkaClient(**self._arguments)
                try:
                    await client.bootstrap()
                except errors.KafkaConnectionError:
                    await self._refuse(client)
                    raise
                self._client = client
        return self._client

    async def _refuse(self, client: Any) -> None:
        """Raise what keeps a connection from being made, which a client only logs."""
        how = {name: each for name, each in self._arguments.items() if name != "bootstrap_servers"}
        try:
            for host, port, _ in client.hosts:
                with contextlib.suppress(errors.KafkaConnectionError, ConnectionError):
                    (await create_conn(host, port, **how)).close()
        finally:
            # TLS says goodbye in an exchange of its own, for which a loop that ends does not wait.
            await asyncio.sleep(_GOODBYE_SECONDS)

    async def _leader(self, client: Any, partition: TopicPartition) -> int:
        async with self._one_at_a_time:
            if partition not in self._leaders:
                await self._find_leaders(client, partition.topic)
        if partition not in self._leaders:
            raise errors.LeaderNotAvailableError(str(partition))
        return self._leaders[partition]

    async def _find_leaders(self, client: Any, topic: str) -> None:
        # Ask by name and without auto-creation: a deleted topic must not come back (protocol guide,
        # Metadata request, allow_auto_topic_creation).
        question = MetadataRequest([topic], allow_auto_topic_creation=False)
        answer = await client.send(client.get_random_node(), question)
        client.cluster.update_metadata(answer)
        for code, *_ in answer.topics:
            self._raise_for(code, f"DESCRIBE on topic {topic}")
        for number in client.cluster.partitions_for_topic(topic) or ():
            leader = client.cluster.leader_for_partition(Address(topic, number))
            if leader is not None and leader >= 0:
                self._leaders[TopicPartition(topic, number)] = int(leader)

    def _raise_for(self, code: int, needs: str = "") -> None:
        if needs and code == errors.TopicAuthorizationFailedError.errno:
            raise self._settings.lacking(needs)
        if code:
            raise errors.for_code(code)()
