"""Compaction: what Kafka's log cleaner leaves of a partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.worlds.memory_log.batch import NO_PRODUCER, Batch, Record
from tests.worlds.memory_log.partition import Partition


def compacted(log: Partition, now: int, delete_retention: int) -> Partition:
    """The log without what a newer record of the same key replaces, up to its last batch.

    Aborted records go too. Tombstones and markers stay for `delete_retention` milliseconds after
    the cleaner first met them (KIP-534), and a producer's last batch stays without its records.
    """
    upto = min(log.last_stable_offset, log.batches[-1].base_offset) if log.batches else 0
    newest = {record.key: offset for offset, record in log.committed(end=upto)}
    last = {each.producer_id: each.base_offset for each in log.batches}
    kept = []
    for batch in log.batches:
        if batch.next_offset > upto or batch.base_offset < log.log_start:
            kept.append(batch)
            continue
        left = _cleaned(batch, newest, log, now, delete_retention)
        is_last = batch.producer_id != NO_PRODUCER and last[batch.producer_id] == batch.base_offset
        if left.records or is_last:
            kept.append(left)
    return replace(log, batches=tuple(kept))


def _cleaned(
    batch: Batch, newest: dict[bytes | None, int], log: Partition, now: int, delete_retention: int
) -> Batch:
    expired = batch.horizon is not None and batch.horizon <= now
    if batch.is_control:
        left = batch.keeping(lambda *_: not (expired and _is_alone(batch, log)))
    else:
        left = batch.keeping(_wanted(newest, aborted=log.is_aborted(batch), expired=expired))
    waits = batch.is_control or any(each.value is None for _, each in left.records)
    if waits and batch.horizon is None:
        return replace(left, horizon=now + delete_retention)
    return left


def _wanted(
    newest: dict[bytes | None, int], *, aborted: bool, expired: bool
) -> Callable[[int, Record], bool]:
    def wanted(offset: int, record: Record) -> bool:
        tombstone = record.value is None
        return not aborted and newest[record.key] == offset and not (tombstone and expired)

    return wanted


def _is_alone(marker: Batch, log: Partition) -> bool:
    """Whether no record of the transaction is left."""
    ended = next(each for each in log.ended if each.marker == marker.base_offset)
    return not any(
        each.producer_id == marker.producer_id and each.records and not each.is_control
        for each in log.from_offset(ended.first_offset, ended.marker)
    )
