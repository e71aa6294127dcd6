"""Fingerprints: which record batch a partition's log holds just before an offset.

A log that was replaced by another copy may have grown over the old offsets, even under the same
leader epoch. Then its offsets look right, and only the batch that holds the last record read tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiokafka.errors import OffsetOutOfRangeError

from sluice.broker.raw_batches import record_batches
from sluice.broker.raw_connection import READ_UNCOMMITTED, RawConnection, ask_each
from sluice.planning.ranges import TopicPartition

# A leader sends the first batch whole, however small the size that is asked for.
_FETCH_BYTES = 1


def read_fingerprints(
    client_extra: Mapping[str, Any],
    cursor: Mapping[TopicPartition, int],
    *,
    timeout: float = 15.0,
) -> Mapping[TopicPartition, str | None]:
    """The fingerprint of the record batch before each offset; None where the log shows none.

    Asked over one connection, some at a time. Raises BrokerUnavailable when a leader does not
    answer in time, SettingsError when the connection cannot be used for this, or its user may not.
    """
    asked = {partition: offset - 1 for partition, offset in cursor.items() if offset > 0}
    unknown: dict[TopicPartition, str | None] = dict.fromkeys(cursor)
    return (
        {**unknown, **asyncio.run(ask_each(client_extra, asked, _fingerprint, timeout))}
        if asked
        else unknown
    )


async def _fingerprint(
    connection: RawConnection, partition: TopicPartition, offset: int
) -> str | None:
    try:
        found = await connection.fetch(partition, offset, _FETCH_BYTES, READ_UNCOMMITTED)
    except OffsetOutOfRangeError:
        return None
    for batch in record_batches(found.records):
        if batch.base_offset <= offset < batch.next_offset:
            return batch.fingerprint
    return None
