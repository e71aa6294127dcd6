"""Questions about many partitions, over one connection."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import islice
from typing import TypeVar

from sluice.broker.client_settings import ClientSettings
from sluice.broker.fetch import RawConnection
from sluice.offsets.ranges import TopicPartition

_T = TypeVar("_T")

_AT_ONCE = 8
# Partitions in one request.
_TOGETHER = 200


@contextlib.asynccontextmanager
async def connected(client: ClientSettings, timeout: float) -> AsyncIterator[RawConnection]:
    """A connection that is closed at the end. Raises as `RawConnection`."""
    connection = RawConnection(client, timeout)
    try:
        yield connection
    finally:
        await connection.close()


async def ask_each(
    connection: RawConnection,
    asked: Mapping[TopicPartition, int],
    question: Callable[[RawConnection, TopicPartition, int], Awaitable[_T]],
) -> dict[TopicPartition, _T]:
    """Ask about one offset of each partition, a few at a time.

    Raises BrokerUnavailable when an answer does not come in time, SettingsError when it never can.
    """
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(partition: TopicPartition, offset: int) -> _T:
        async with places:
            what = f"{partition} [{offset}, {offset + 1})"
            return await connection.patiently(what, question, connection, partition, offset)

    found = await asyncio.gather(*(one(*each) for each in asked.items()))
    return dict(zip(asked, found, strict=True))


async def ask_together(
    connection: RawConnection, asked: Mapping[TopicPartition, int], size: int
) -> dict[TopicPartition, bytes]:
    """As `RawConnection.fetch_together`, for any number of partitions. Raises as `ask_each`."""
    found: dict[TopicPartition, bytes] = {}
    waiting = iter(asked.items())
    while some := dict(islice(waiting, _TOGETHER)):
        partition, offset = next(iter(some.items()))
        others = f", and {len(some) - 1} more partitions" if some.keys() - {partition} else ""
        what = f"{partition} [{offset}, {offset + 1}){others}"
        found |= await connection.patiently(what, connection.fetch_together, some, size)
    return found
