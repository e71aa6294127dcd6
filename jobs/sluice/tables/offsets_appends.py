"""Appends to the offsets table, each based on the snapshot that it was decided on.

Rows are appended by compare-and-set: the commit carries a Delta transaction id whose
version is the newest batch's number, and delta-rs refuses it when another commit with the same id
landed after the snapshot it was based on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, Transaction, write_deltalake

from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.doubts import Doubt
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.quarantined import Drop
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset
from sluice.tables.empty_commit import commit_only_ids
from sluice.tables.judged_marks import Mark, number_of
from sluice.tables.offsets_rows import (
    doubt_rows,
    drop_rows,
    loss_row,
    plan_rows,
    receipt_rows,
)
from sluice.tables.offsets_schema import SCHEMA
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.refusals import committing
from sluice.tables.reset_rows import reset_rows


def append_reset(
    to: OffsetsSnapshot, reset: Reset, origin: Origin, losses: Sequence[Loss] = ()
) -> None:
    """Record a reset as intended, or as done, with what it leaves behind.

    Raises CommitConflict or CommitFailed.

    Their times order them: each is later than all before it, whatever its writer's clock says
    and however long ago its command began.
    """
    before = to.newest(to.resets_app_id)
    rows = reset_rows(reset, _after_all_resets(to, origin), losses)
    _append(to, rows, to.resets_app_id, before, before + 1)


def append_plan(to: OffsetsSnapshot, plan: Plan, origin: Origin) -> None:
    """Make new batches durable, all in one commit. Raises CommitConflict or CommitFailed."""
    first, last = plan.batches[0], plan.batches[-1]
    rows = plan_rows(plan, origin)
    _append(to, rows, first.sequence.app_id, first.number - 1, last.number)


def append_receipt(to: OffsetsSnapshot, receipt: Receipt, origin: Origin) -> None:
    """Write a batch's receipt, once. Raises CommitConflict or CommitFailed."""
    batch = receipt.batch
    rows = receipt_rows(receipt, origin)
    _append(to, rows, batch.sequence.receipts_app_id, batch.number - 1, batch.number)


def append_recovery(
    to: OffsetsSnapshot,
    batches: Sequence[Batch],
    receipts: Sequence[Receipt],
    losses: Iterable[tuple[BatchSequence, str, Loss]],
    opening: Reset,
    origin: Origin,
) -> None:
    """Record lost plans, receipts and losses, and the reset after them, all in one commit.

    A loss comes with its sequence and cluster id. Raises CommitConflict or CommitFailed.
    """
    before = to.newest(to.resets_app_id)
    numbers = {to.resets_app_id: before + 1}
    for first in {each.sequence: each for each in reversed(batches)}.values():
        if (unlisted := settled_before(to, first)) > to.settled(first.sequence):
            numbers[first.sequence.receipts_app_id] = unlisted
    numbers |= {each.sequence.app_id: each.number for each in batches}
    for each in (receipt.batch for receipt in receipts):
        settled = numbers.get(each.sequence.receipts_app_id, to.settled(each.sequence))
        assert each.number == settled + 1, f"{each}: the last one settled is {settled}"
        numbers[each.sequence.receipts_app_id] = each.number
    rows = [
        *(plan_rows(Plan(tuple(batches)), origin) if batches else ()),
        *(row for each in receipts for row in receipt_rows(each, origin)),
        *(loss_row(*each) | origin.columns() for each in losses),
        *reset_rows(opening, _after_all_resets(to, origin)),
    ]
    _commit(to, rows, numbers)


def settled_before(known: OffsetsSnapshot, found: Batch) -> int:
    """The last batch that no receipt will be asked for, if this is the next one known of.

    Behind a hole in what is planned, of which only rows are left, its receipt comes first.
    """
    settled, planned = known.settled(found.sequence), known.planned(found.sequence)
    return max(settled, found.number - 1) if settled == planned else settled


def append_losses(
    to: OffsetsSnapshot, losses: Iterable[tuple[BatchSequence, str, Loss]], origin: Origin
) -> None:
    """Record what is lost with a data table. Raises CommitConflict or CommitFailed."""
    _commit(to, [loss_row(*each) | origin.columns() for each in losses], {})


def append_drop(to: OffsetsSnapshot, drop: Drop, origin: Origin) -> None:
    """Record a drop from quarantine. Raises CommitConflict or CommitFailed."""
    app_id = f"sluice:{to.pipeline}:drops"
    before = to.newest(app_id)
    _append(to, drop_rows(drop, origin), app_id, before, before + 1)


def append_doubt(to: OffsetsSnapshot, doubt: Doubt, origin: Origin) -> None:
    """Record a doubt about a committed batch. Raises CommitConflict or CommitFailed."""
    before = to.newest(to.doubts_app_id)
    _append(to, doubt_rows(doubt, origin), to.doubts_app_id, before, before + 1)


def append_marks(to: OffsetsSnapshot, marks: Sequence[Mark]) -> None:
    """Mark tables as judged, in a commit without rows.

    Raises CommitConflict where another process has marked one since, else as `append_plan`.
    """
    if to.table is None:
        raise CommitConflict(to.pipeline)
    numbers = {name: n for each in marks for name, n in each.numbers(to.pipeline).items()}
    ids = _ids(to, numbers)
    reach("offsets to commit")
    commit_only_ids(to.table, ids, to.clock.now())
    reach("offsets committed")


def append_known_state(to: OffsetsSnapshot, table_id: str) -> None:
    """Remember a state table by its Delta id, in a commit without rows.

    Raises as `append_marks`.
    """
    if to.table is None:
        raise CommitConflict(to.pipeline)
    commit_only_ids(to.table, _ids(to, {to.state_app_id: number_of(table_id)}), to.clock.now())


def _after_all_resets(to: OffsetsSnapshot, origin: Origin) -> Origin:
    times = [row["recorded_at"] for row in to.reset_rows()]
    now = max([origin.at, *(each + timedelta(microseconds=1) for each in times)])
    return replace(origin, at=now)


def _append(
    to: OffsetsSnapshot, rows: Iterable[dict[str, Any]], app_id: str, expected: int, number: int
) -> None:
    if to.newest(app_id) != expected:
        raise CommitConflict(app_id)
    _commit(to, rows, {app_id: number})


def _commit(
    to: OffsetsSnapshot, rows: Iterable[dict[str, Any]], numbers: Mapping[str, int]
) -> None:
    if to.table is None:
        raise CommitConflict(to.pipeline)
    by = CommitProperties(app_transactions=_ids(to, numbers))
    table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
    reach("offsets to commit")
    with committing(to.table):
        write_deltalake(to.table, table, mode="append", schema_mode="merge", commit_properties=by)
    reach("offsets committed")


def _ids(to: OffsetsSnapshot, numbers: Mapping[str, int]) -> list[Transaction]:
    """The transaction ids of a commit; after it, all is read again."""
    to.forget()
    now = int(to.clock.now().timestamp() * 1000)
    return [Transaction(*each, now) for each in numbers.items()]
