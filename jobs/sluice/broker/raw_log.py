"""The raw log: a partition's record batches as the broker keeps them. The only user of aiokafka.

librdkafka and Spark show records only; aiokafka's fetch shows the batches' headers and the list
of aborted transactions as well. Read where rows are missing, and nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from aiokafka import errors
from aiokafka.client import AIOKafkaClient
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.protocol.offset import OffsetRequest
from aiokafka.structs import TopicPartition as Address

from sluice.broker.log_page import AbortedTransaction, LogPage
from sluice.broker.raw_batches import record_batches
from sluice.broker.raw_client import client_arguments
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.planning.ranges import TopicPartition
from sluice.proof.gaps import Span

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

_READ_COMMITTED = 1
_EARLIEST, _LATEST = -2, -1
_FETCH_BYTES = 1 << 20
_FETCH_WAIT_MS = 500
_PAUSE_SECONDS = 0.25
# Nothing at an offset is believed only when it is said again: a leader that was elected a moment
# ago, or tiered storage that is slow, answers with nothing as well.
_EMPTY_ANSWERS = 4

_NOT_PASSING = (
    errors.AuthenticationFailedError,
    errors.ClusterAuthorizationFailedError,
    errors.IncompatibleBrokerVersion,
    errors.InvalidTopicError,
    errors.SaslAuthenticationFailed,
    errors.TopicAuthorizationFailedError,
    errors.UnsupportedCodecError,
    errors.UnsupportedVersionError,
)


def read_raw_log(
    client_extra: Mapping[str, Any],
    partition: TopicPartition,
    missing: Sequence[Span],
    *,
    timeout: float = 30.0,
) -> Iterator[LogPage]:
    """Read the log where offsets are missing, a page of about a megabyte at a time.

    The pages ascend and cover all the missing ranges. `timeout` is the longest wait for the next
    page in seconds. Raises BrokerUnavailable when it is over, SettingsError when the connection
    cannot be used, or its user may not read the topic.
    """
    if not missing:
        return
    log = _RawLog(client_arguments(client_extra, timeout), partition, missing[-1][1])
    with asyncio.Runner() as runner:

        def wait_for(step: Callable[[], Awaitable[_T]], start: int) -> _T:
            return runner.run(_patiently(step, log, start, timeout))

        try:
            reached = 0
            for start, end in missing:
                while reached < end:
                    at = max(start, reached)
                    page = wait_for(lambda at=at: log.page(at), at)  # type: ignore[misc]
                    reached = page.end
                    yield page
        finally:
            runner.run(log.close())


async def _patiently(
    step: Callable[[], Awaitable[_T]], log: _RawLog, start: int, timeout: float
) -> _T:
    """Take a step again and again until it succeeds, cannot succeed, or the time is over."""
    what = f"{log.partition} [{start}, {log.end})"
    cause: Exception | None = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    return await step()
                except _NOT_PASSING as error:
                    text = f"{what}: {log.addresses} refused to show the raw log: {error}"
                    raise SettingsError(
                        f"{text}. Fix the connection or the user's rights"
                    ) from error
                except (errors.KafkaError, OSError, TimeoutError, _AskAgain) as error:
                    cause = error
                    await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        raise BrokerUnavailable(
            f"{what}: the raw log could not be read from {log.addresses} within {timeout:g} s;"
            f" last answer: {repr(cause) if cause else 'none'}. Nothing was changed; try again"
        ) from cause


class _AskAgain(Exception):
    """An answer that says nothing: throttled, or another replica is to be asked."""


class _RawLog:
    """A partition's log, asked for one page at a time."""

    def __init__(self, arguments: Mapping[str, Any], partition: TopicPartition, end: int) -> None:
        self.partition = partition
        self.end = end
        self.addresses = arguments["bootstrap_servers"]
        self._arguments = arguments
        self._client: Any = None
        self._node: int | None = None
        self._nothing = 0

    async def page(self, start: int) -> LogPage:
        """The page that begins at `start`; to be asked again when it raises."""
        try:
            return await self._page(start)
        except (errors.KafkaError, OSError):
            self._node = None
            raise

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def _page(self, start: int) -> LogPage:
        try:
            stable, log_start, aborted, records = await self._fetch(start)
        except errors.OffsetOutOfRangeError:
            return await self._outside(start)
        batches = tuple(record_batches(records))
        if not batches:
            self._nothing += 1
            if self._nothing < _EMPTY_ANSWERS:
                raise _AskAgain(f"nothing at {start}, last stable offset {stable}")
        self._nothing = 0
        end = batches[-1].next_offset if batches else self.end
        _LOG.debug("%s [%s, %s) raw log: %s batches", self.partition, start, end, len(batches))
        found = tuple(AbortedTransaction(*each) for each in aborted or ())
        return LogPage(start, end, batches, found, log_start, stable)

    async def _outside(self, start: int) -> LogPage:
        """The page where the log is no longer, or not yet."""
        log_start, stable = await self._offset(_EARLIEST), await self._offset(_LATEST)
        if log_start <= start < stable:
            raise _AskAgain(f"{start} is out of range, but not outside [{log_start}, {stable})")
        end = log_start if start < log_start else self.end
        return LogPage(start, end, (), (), log_start, stable)

    async def _fetch(self, start: int) -> tuple[int, int, Any, bytes]:
        request = [(self.partition.topic, [(self.partition.partition, start, _FETCH_BYTES)])]
        answer = await self._ask(
            FetchRequest(_FETCH_WAIT_MS, 1, _FETCH_BYTES, _READ_COMMITTED, request)
        )
        _, _, _, stable, log_start, aborted, *replica, records = _only_partition(answer)
        if replica and replica[0] >= 0:
            self._node = replica[0]
            raise _AskAgain(f"replica {replica[0]} is to be asked")
        return stable, log_start, aborted, records

    async def _offset(self, position: int) -> int:
        request = [(self.partition.topic, [(self.partition.partition, position)])]
        answer = await self._ask(OffsetRequest(-1, _READ_COMMITTED, request))
        return int(_only_partition(answer)[3])

    async def _ask(self, request: Any) -> Any:
        if self._client is None:
            client = AIOKafkaClient(**self._arguments)
            await client.bootstrap()
            self._client = client
        if self._node is None:
            self._node = await self._leader()
        return await self._client.send(self._node, request)

    async def _leader(self) -> int:
        # Asked for by name and without auto-creation: a deleted topic must not come back.
        question = MetadataRequest([self.partition.topic], allow_auto_topic_creation=False)
        answer = await self._client.send(self._client.get_random_node(), question)
        self._client.cluster.update_metadata(answer)
        for code, *_ in answer.topics:
            _raise_for(code)
        address = Address(self.partition.topic, self.partition.partition)
        leader = self._client.cluster.leader_for_partition(address)
        if leader is None or leader < 0:
            raise errors.LeaderNotAvailableError(str(self.partition))
        return int(leader)


def _only_partition(answer: Any) -> Sequence[Any]:
    """The answer for the one partition that was asked about. Raises what the broker reports."""
    _raise_for(getattr(answer, "error_code", 0))
    if not answer.topics:
        raise _AskAgain(f"throttled for {answer.throttle_time_ms} ms")
    found: Sequence[Any] = answer.topics[0][1][0]
    _raise_for(found[1])
    return found


def _raise_for(code: int) -> None:
    if code:
        raise errors.for_code(code)()
