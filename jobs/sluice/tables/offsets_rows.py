"""Rows of the offsets table: one per event, batch and partition (format version 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.doubts import Doubt, DoubtfulRange
from sluice.offsets.loss_causes import format_cause, parse_cause
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.quarantined import Drop
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.offsets.spec_edition import SpecEdition
from sluice.tables.deciding_keys import deciding_keys, read_only
from sluice.tables.offsets_schema import FORMAT_VERSION
from sluice.tables.refusals import newer_format

Row = dict[str, Any]
_Line = TypeVar("_Line")


def plan_rows(plan: Plan, origin: Origin) -> Iterator[Row]:
    """Event `planned` for every partition of every batch, and `loss` for every loss found."""
    for batch in plan.batches:
        for planned, spec in _with_spec(batch, batch.ranges, plan.spec):
            row = _batch_row("planned", batch, planned) | origin.columns() | spec
            yield row | ({"reason": plan.reason} if plan.reason else {})
    sequence, cluster = plan.batches[0].sequence, plan.batches[0].cluster_id
    for loss in plan.losses:
        yield loss_row(sequence, cluster, loss) | origin.columns()


def receipt_rows(receipt: Receipt, origin: Origin) -> Iterator[Row]:
    """Event `committed` for every partition: the plan's columns, the counts, the data version.

    Also event `loss` for offsets that Kafka no longer held when the batch was read.
    """
    batch = receipt.batch
    for line, spec in _with_spec(batch, receipt.counted, receipt.spec):
        row = _batch_row("committed", batch, line.planned) | origin.columns() | spec
        reason = {"reason": receipt.reason} if receipt.reason else {}
        yield row | _counts(line) | {"data_version": receipt.data_version} | reason
    for loss in receipt.losses:
        yield loss_row(batch.sequence, batch.cluster_id, loss) | origin.columns()


def _with_spec(
    batch: Batch, lines: Iterable[_Line], spec: SpecEdition | None
) -> Iterator[tuple[_Line, Row]]:
    """The lines of a batch; the first has what decides its rows: once is enough for 10,000."""
    deciding = deciding_keys(batch, spec)
    for at, line in enumerate(lines):
        yield line, {"spec": deciding} if deciding and at == 0 else {}


def drop_rows(drop: Drop, origin: Origin) -> Iterator[Row]:
    """Event `loss` for records dropped from quarantine, with the batch they came from."""
    for loss in drop.losses:
        yield loss_row(drop.sequence, drop.cluster_id, loss) | origin.columns()


def doubt_rows(doubt: Doubt, origin: Origin) -> Iterator[Row]:
    """Event `doubt` for each range that is in doubt, with its batch."""
    for each in doubt.ranges:
        row = _batch_row("doubt", doubt.batch, each.planned) | origin.columns()
        yield row | {"reason": each.reason}


def read_doubt(batch: Batch, rows: Iterable[Mapping[str, Any]]) -> Doubt | None:
    """Rebuild the doubt about a batch from its `doubt` rows; None where there are none."""
    found = _in_order(list(rows))
    ranges = tuple(DoubtfulRange(_read_planned(row), row["reason"]) for row in found)
    return Doubt(batch, ranges) if ranges else None


def read_batches(sequence: BatchSequence, rows: Iterable[Mapping[str, Any]]) -> tuple[Batch, ...]:
    """Rebuild batches from `planned` rows, in the order of their numbers."""
    by_number = _by_number(rows)
    return tuple(_read_batch(sequence, n, by_number[n]) for n in sorted(by_number))


def read_receipts(sequence: BatchSequence, rows: Iterable[Mapping[str, Any]]) -> Iterator[Receipt]:
    """Rebuild receipts from `committed` rows, which repeat the plan's columns."""
    by_number = _by_number(rows)
    for number in sorted(by_number):
        mine = by_number[number]
        lines = tuple(map(_read_counted, _in_order(mine)))
        batch, version = _read_batch(sequence, number, mine), mine[0]["data_version"]
        reason = mine[0].get("reason") or ""
        spec, recorded = read_edition(mine), Origin.of(mine[0])
        yield Receipt(batch, lines, version, reason=reason, recorded=recorded, spec=spec)


def read_edition(rows: Iterable[Mapping[str, Any]]) -> SpecEdition | None:
    """The spec's edition in the rows of one batch and event; None where it is not recorded."""
    found = [SpecEdition.read(row.get("spec")) for row in rows if row.get("spec")]
    return next(iter(found), None)


def read_losses(rows: Iterable[Mapping[str, Any]]) -> Iterator[Loss]:
    """Rebuild losses from `loss` rows."""
    for row in rows:
        recorded = Origin.of(row)
        cause = parse_cause(row["reason"])
        yield Loss(_read_range(row), row["topic_id"], cause, row.get("batch"), recorded)


def _by_number(rows: Iterable[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    by_number: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["format_version"] != FORMAT_VERSION:
            where, found = f"offsets table: {row['batch']}", row["format_version"]
            raise newer_format(where, "format_version", FORMAT_VERSION, found)
        by_number.setdefault(row["batch_id"], []).append(row)
    return by_number


def _batch_row(event: str, batch: Batch, planned: PlannedRange) -> Row:
    return {
        **sequence_columns(batch.sequence, event),
        "batch_id": batch.number,
        "batch": str(batch),
        "mode": batch.mode,
        **_range(planned.offsets),
        **log_columns(planned),
        "cluster_id": batch.cluster_id,
        "data_table_id": batch.data_table_id,
        "quarantine_table_id": batch.quarantine_table_id,
        "complete_until": batch.complete_until,
    }


def log_columns(planned: PlannedRange) -> Row:
    """The columns for the state of the partition's log when the row was written."""
    return {
        "topic_id": planned.topic_id,
        "log_start_offset": planned.log_start_offset,
        "last_stable_offset": planned.last_stable_offset,
        "leader_epoch": planned.leader_epoch,
    }


def loss_row(sequence: BatchSequence, cluster_id: str, loss: Loss) -> Row:
    """Event `loss`, without its origin."""
    return {
        **sequence_columns(sequence, "loss"),
        **_range(loss.offsets),
        "topic_id": loss.topic_id,
        "gaps": loss.offsets.span,
        "gap_lost": loss.offsets.span,
        "cluster_id": cluster_id,
        "reason": format_cause(loss.cause),
        "batch": loss.dropped_from,
    }


def sequence_columns(sequence: BatchSequence, event: str) -> Row:
    """The columns that name an event and its pipeline, lane and generation."""
    return {
        "format_version": FORMAT_VERSION,
        "pipeline": sequence.pipeline,
        "lane": sequence.lane,
        "generation": sequence.generation,
        "event": event,
    }


def _range(offsets: OffsetRange) -> Row:
    return {
        "topic": offsets.partition.topic,
        "partition": offsets.partition.partition,
        "start_offset": offsets.start,
        "end_offset": offsets.end,
    }


def _counts(line: PartitionCount) -> Row:
    return {
        "records": line.records,
        "quarantined": line.quarantined,
        "gaps": line.gaps.total,
        "gap_control": line.gaps.control,
        "gap_aborted": line.gaps.aborted,
        "gap_compacted": line.gaps.compacted,
        "gap_lost": line.gaps.lost,
        "filtered": line.filtered,
    }


def _read_batch(sequence: BatchSequence, number: int, rows: list[Mapping[str, Any]]) -> Batch:
    first = rows[0]
    return Batch(
        sequence=sequence,
        number=number,
        mode=first["mode"],
        cluster_id=first["cluster_id"],
        ranges=tuple(map(_read_planned, _in_order(rows))),
        data_table_id=first["data_table_id"],
        quarantine_table_id=first.get("quarantine_table_id"),
        only=read_only(row.get("spec") for row in rows),
        complete_until=first.get("complete_until"),
    )


def _in_order(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=lambda row: (row["topic"], row["partition"]))


def _read_planned(row: Mapping[str, Any]) -> PlannedRange:
    return PlannedRange(
        offsets=_read_range(row),
        topic_id=row["topic_id"],
        log_start_offset=row["log_start_offset"],
        last_stable_offset=row["last_stable_offset"],
        leader_epoch=row["leader_epoch"],
    )


def _read_range(row: Mapping[str, Any]) -> OffsetRange:
    partition = TopicPartition(row["topic"], row["partition"])
    return OffsetRange(partition, row["start_offset"], row["end_offset"])


def _read_counted(row: Mapping[str, Any]) -> PartitionCount:
    gaps = GapCount(row["gap_control"], row["gap_aborted"], row["gap_compacted"], row["gap_lost"])
    # A receipt of before the column was there has filtered nothing.
    filtered = row.get("filtered") or 0
    return PartitionCount(_read_planned(row), row["records"], row["quarantined"], gaps, filtered)
