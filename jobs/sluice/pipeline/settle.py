"""Verb three: write the receipts of what is committed, then mirror the cursor."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from sluice.broker.raw_log import read_raw_log
from sluice.failpoints import reach
from sluice.pipeline.counting import account
from sluice.pipeline.parts import Parts
from sluice.planning.batches import Batch
from sluice.planning.ranges import TopicPartition
from sluice.proof.accounting import Counted, Receipt
from sluice.proof.gaps import Gaps, Span, explain
from sluice.tables.offsets_rows import Origin
from sluice.tables.offsets_table import Overtaken

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settlement:
    """The receipts that were written now."""

    receipts: tuple[Receipt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.receipts)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The batches with their ranges and counts, as JSON-able values."""
        return [_event(receipt) for receipt in self.receipts]


def settle(parts: Parts, origin: Origin) -> Settlement:
    """Write every receipt that is due, in order, then bring the consumer group to the cursor.

    Raises GapUnexplained before the receipt of a batch that does not add up; BrokerUnavailable,
    CommitFailed or CommitUnknown when it should be tried again.
    """
    written: list[Receipt] = []
    while batch := _next_due(parts):
        reach("before receipt")
        receipt = _write_receipt(parts, batch, origin)
        if receipt is not None:
            written.append(receipt)
    reach("before mirror")
    _mirror(parts)
    reach("after mirror")
    if written:
        parts.offsets.compact_now_and_then(parts.spec.pipeline)
    return Settlement(tuple(written))


def _next_due(parts: Parts) -> Batch | None:
    _, history, committed = parts.progress(parts.offsets.snapshot)
    return history.batch(history.settled + 1) if history.settled < committed else None


def _write_receipt(parts: Parts, batch: Batch, origin: Origin) -> Receipt | None:
    """Write one receipt; None when somebody else has written it meanwhile."""

    def ask(partition: TopicPartition, missing: list[Span]) -> Gaps:
        pages = read_raw_log(parts.client.settings, partition, missing)
        return explain(missing, pages, compacts=parts.kafka.compacts(partition.topic))

    receipt = account(batch, parts.data, parts.quarantine, ask, parts.records_losses)
    try:
        parts.offsets.snapshot().append_receipt(receipt, origin)
    except Overtaken:
        log.info("%s: somebody else has just settled it", batch)
        return None
    _report(receipt)
    return receipt


def _mirror(parts: Parts) -> None:
    """Set the consumer group to the end of what is committed: never ahead of the table."""
    _, history, committed = parts.progress(parts.offsets.snapshot)
    if parts.spec.consumer_group is None or not committed:
        return
    batch = history.batch(committed)
    cursor = {each.offsets.partition: each.offsets.end for each in batch.ranges}
    parts.kafka.mirror(parts.spec.consumer_group, cursor)
    log.info("%s: consumer group %s is at its end", batch, parts.spec.consumer_group)


def _report(receipt: Receipt) -> None:
    for loss in receipt.losses:
        log.warning("%s; recorded as lost", loss)
    log.info(
        "%s: settled in version %d: %d records, %d quarantined, %d gaps",
        receipt.batch,
        receipt.data_version,
        receipt.records,
        receipt.quarantined,
        receipt.gaps,
    )


def _event(receipt: Receipt) -> dict[str, Any]:
    return {
        "batch": str(receipt.batch),
        "data_version": receipt.data_version,
        "records": receipt.records,
        "quarantined": receipt.quarantined,
        "gaps": receipt.gaps,
        "ranges": [_range(line) for line in receipt.counted if line.planned.offsets.span],
    }


def _range(line: Counted) -> dict[str, Any]:
    offsets = line.planned.offsets
    return {
        "topic": offsets.partition.topic,
        "partition": offsets.partition.partition,
        "start": offsets.start,
        "end": offsets.end,
        "records": line.records,
    }
