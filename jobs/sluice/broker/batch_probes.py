"""Batch probes: single record batches of a log, fetched for their identity or size."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from aiokafka.errors import OffsetOutOfRangeError

from sluice.broker.client_settings import ClientSettings
from sluice.broker.fetch import READ_UNCOMMITTED, RawConnection, ask_each
from sluice.broker.record_batches import record_batches
from sluice.offsets.ranges import TopicPartition

# A leader sends the first batch whole, however small the requested size (KIP-74).
_ONE_BATCH_BYTES = 1


def read_fingerprints(
    client: ClientSettings,
    cursor: Mapping[TopicPartition, int],
    *,
    timeout: float = 15.0,
) -> Mapping[TopicPartition, str | None]:
    """The fingerprint of the record batch before each offset; None where the log has none.

    Uses one connection, with a few requests at a time. Raises BrokerUnavailable when a leader does
    not answer in time, SettingsError when the connection or its user cannot read the raw log.
    """
    asked = {partition: offset - 1 for partition, offset in cursor.items() if offset > 0}
    unknown: dict[TopicPartition, str | None] = dict.fromkeys(cursor)
    return (
        {**unknown, **asyncio.run(ask_each(client, asked, _fingerprint, timeout))}
        if asked
        else unknown
    )


async def _fingerprint(
    connection: RawConnection, partition: TopicPartition, offset: int
) -> str | None:
    try:
        found = await connection.fetch(partition, offset, _ONE_BATCH_BYTES, READ_UNCOMMITTED)
    except OffsetOutOfRangeError:
        return None
    for batch in record_batches(found.records):
        if batch.base_offset <= offset < batch.next_offset:
            return batch.fingerprint
    return None


_SAMPLE_BYTES = 64 * 1024


def read_samples(
    client: ClientSettings,
    starts: Mapping[TopicPartition, int],
    *,
    timeout: float = 5.0,
) -> Mapping[TopicPartition, float]:
    """The compressed bytes per offset where each partition is read next.

    Partitions without an answer are left out. Raises BrokerUnavailable or SettingsError, as
    `read_fingerprints` does.
    """
    if not starts:
        return {}
    found = asyncio.run(ask_each(client, starts, _bytes_per_offset, timeout))
    return {partition: each for partition, each in found.items() if each is not None}


async def _bytes_per_offset(
    connection: RawConnection, partition: TopicPartition, start: int
) -> float | None:
    try:
        found = await connection.fetch(partition, start, _SAMPLE_BYTES, READ_UNCOMMITTED)
    except OffsetOutOfRangeError:
        return None
    batches = list(record_batches(found.records))
    if not batches:
        return None
    return sum(each.size for each in batches) / sum(each.span for each in batches)
