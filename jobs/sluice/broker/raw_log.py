"""The raw log: a partition's record batches as the broker keeps them.

librdkafka and Spark show only records; a raw fetch also shows the batches' headers and the list of
aborted transactions (KIP-98). It is read only where rows are missing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence

from aiokafka.errors import OffsetOutOfRangeError

from sluice.broker.client_settings import ClientSettings
from sluice.broker.fetch import EARLIEST, LATEST, AskAgain, RawConnection
from sluice.broker.record_batches import record_batches
from sluice.offsets.log_page import AbortedTransaction, LogPage
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import Span

_LOG = logging.getLogger(__name__)

_FETCH_BYTES = 1 << 20
# An empty answer counts only when it stays so: a newly elected leader, or slow tiered storage
# (KIP-405), also answers with nothing.
_PATIENCE_S = 3.0


def read_raw_log(
    client: ClientSettings,
    partition: TopicPartition,
    missing: Sequence[Span],
    *,
    timeout: float = 30.0,
    patience: float = _PATIENCE_S,
) -> Iterator[LogPage]:
    """Read the log where offsets are missing, a page of about a megabyte at a time.

    The pages ascend and cover all the missing ranges. `timeout` is the longest wait for the next
    page, in seconds, and `patience` how long an answer without records has to stay so before it
    counts: less than the timeout. Raises BrokerUnavailable when it is over, SettingsError when the
    connection is unusable or its user may not read the topic.
    """
    if not missing:
        return
    connection = RawConnection(client, timeout)
    log = _RawLog(connection, partition, missing[-1][1], patience)
    with asyncio.Runner() as runner:
        try:
            reached = 0
            for start, end in missing:
                while reached < end:
                    page = runner.run(log.page(max(start, reached)))
                    reached = page.end
                    yield page
        finally:
            runner.run(connection.close())


class _RawLog:
    """A partition's log, read one page at a time."""

    def __init__(
        self, connection: RawConnection, partition: TopicPartition, end: int, patience: float
    ) -> None:
        self._connection = connection
        self._partition = partition
        self._end = end
        self._patience = patience
        self._nothing_since: float | None = None

    async def page(self, start: int) -> LogPage:
        """The page that begins at `start`."""
        what = f"{self._partition} [{start}, {self._end})"
        return await self._connection.patiently(what, self._page, start)

    async def _page(self, start: int) -> LogPage:
        try:
            found = await self._connection.fetch(self._partition, start, _FETCH_BYTES)
        except OffsetOutOfRangeError:
            return await self._outside(start)
        batches = tuple(record_batches(found.records))
        stable, log_start = found.last_stable_offset, found.log_start_offset
        if not batches:
            if self._nothing_since is None:
                self._nothing_since = time.monotonic()
            if time.monotonic() - self._nothing_since < self._patience:
                raise AskAgain(f"nothing at {start}, last stable offset {stable}")
        self._nothing_since = None
        end = batches[-1].next_offset if batches else self._end
        _LOG.debug("%s [%s, %s) raw log: %s batches", self._partition, start, end, len(batches))
        aborted = tuple(AbortedTransaction(*each) for each in found.aborted)
        return LogPage(start, end, batches, aborted, log_start, stable)

    async def _outside(self, start: int) -> LogPage:
        """The empty page below the log start, or from the LSO on."""
        log_start = await self._connection.offset(self._partition, EARLIEST)
        stable = await self._connection.offset(self._partition, LATEST)
        if log_start <= start < stable:
            raise AskAgain(f"{start} is out of range, but not outside [{log_start}, {stable})")
        end = log_start if start < log_start else self._end
        return LogPage(start, end, (), (), log_start, stable)
