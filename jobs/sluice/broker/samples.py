"""Samples: what an offset takes in a partition's log, by the record batches at one place of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiokafka.errors import OffsetOutOfRangeError

from sluice.broker.raw_batches import record_batches
from sluice.broker.raw_connection import READ_UNCOMMITTED, RawConnection, ask_each
from sluice.planning.ranges import TopicPartition

_FETCH_BYTES = 64 * 1024


def read_samples(
    client_extra: Mapping[str, Any],
    starts: Mapping[TopicPartition, int],
    *,
    timeout: float = 5.0,
) -> Mapping[TopicPartition, float]:
    """The bytes per offset, compressed as they are, where each partition is to be read next.

    Unknown ones are left out. Raises BrokerUnavailable or SettingsError when nobody may say.
    """
    if not starts:
        return {}
    found = asyncio.run(ask_each(client_extra, starts, _bytes_per_offset, timeout))
    return {partition: each for partition, each in found.items() if each is not None}


async def _bytes_per_offset(
    connection: RawConnection, partition: TopicPartition, start: int
) -> float | None:
    try:
        found = await connection.fetch(partition, start, _FETCH_BYTES, READ_UNCOMMITTED)
    except OffsetOutOfRangeError:
        return None
    batches = list(record_batches(found.records))
    if not batches:
        return None
    return sum(each.size for each in batches) / sum(each.span for each in batches)
