"""Batch probes: single record batches of a log, fetched for their identity or size."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from aiokafka.errors import OffsetOutOfRangeError

from sluice.broker.client_settings import ClientSettings
from sluice.broker.fetch import READ_UNCOMMITTED, RawConnection
from sluice.broker.questions import ask_each, ask_together, connected
from sluice.broker.record_batches import record_batches
from sluice.offsets.log_page import RecordBatch
from sluice.offsets.ranges import TopicPartition

# A leader sends the first batch whole, however small the requested size (KIP-74).
_ONE_BATCH_BYTES = 1
# A producer's `batch.size`, unless it is set: most batches are smaller.
_USUAL_BATCH_BYTES = 16 * 1024


def read_fingerprints(
    client: ClientSettings,
    cursor: Mapping[TopicPartition, int],
    *,
    timeout: float = 15.0,
) -> Mapping[TopicPartition, str | None]:
    """The fingerprint of the record batch before each offset; None where the log has none.

    Uses one connection, and asks a leader about many partitions at once. Raises BrokerUnavailable
    when one does not answer in time, SettingsError when the connection or its user cannot read the
    raw log.
    """
    asked = {partition: offset - 1 for partition, offset in cursor.items() if offset > 0}
    unknown: dict[TopicPartition, str | None] = dict.fromkeys(cursor)
    return {**unknown, **asyncio.run(_fingerprints(client, asked, timeout))} if asked else unknown


async def _fingerprints(
    client: ClientSettings, asked: Mapping[TopicPartition, int], timeout: float
) -> dict[TopicPartition, str | None]:
    async with connected(client, timeout) as connection:
        records = await ask_together(connection, asked, _USUAL_BATCH_BYTES)
        batches = {partition: list(record_batches(each)) for partition, each in records.items()}
        found = {
            partition: _covering(each, asked[partition])
            for partition, each in batches.items()
            if each
        }
        alone = {each: offset for each, offset in asked.items() if each not in found}
        return {**found, **await ask_each(connection, alone, _fingerprint)}


async def _fingerprint(
    connection: RawConnection, partition: TopicPartition, offset: int
) -> str | None:
    try:
        found = await connection.fetch(partition, offset, _ONE_BATCH_BYTES, READ_UNCOMMITTED)
    except OffsetOutOfRangeError:
        return None
    return _covering(record_batches(found.records), offset)


def _covering(batches: Iterable[RecordBatch], offset: int) -> str | None:
    """The fingerprint of the batch that holds an offset."""
    for batch in batches:
        if batch.base_offset <= offset < batch.next_offset:
            return batch.fingerprint
    return None


_SAMPLE_BYTES = 64 * 1024


def read_bytes_per_offset(
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
    found = asyncio.run(_sampled(client, starts, timeout))
    return {partition: each for partition, each in found.items() if each is not None}


async def _sampled(
    client: ClientSettings, starts: Mapping[TopicPartition, int], timeout: float
) -> dict[TopicPartition, float | None]:
    async with connected(client, timeout) as connection:
        return await ask_each(connection, starts, _bytes_per_offset)


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
