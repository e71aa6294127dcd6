"""One version of an offsets table: what it says, and appends that are based on it.

Both kinds of rows are appended by compare-and-set: the commit carries a Delta transaction id whose
version is the newest batch's number, and delta-rs refuses it when another commit with the same id
landed after the snapshot it was based on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from sluice.clock import SYSTEM_CLOCK, Clock
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
from sluice.tables.judged_marks import Mark, mark_ids
from sluice.tables.offsets_files import RowsByPath
from sluice.tables.offsets_reading import OffsetsReading
from sluice.tables.offsets_rows import (
    doubt_rows,
    drop_rows,
    loss_row,
    plan_rows,
    receipt_rows,
)
from sluice.tables.offsets_schema import SCHEMA
from sluice.tables.refusals import committing
from sluice.tables.reset_rows import reset_rows


class OffsetsSnapshot(OffsetsReading):
    """The offsets table at one version: decisions are based on it and committed against it."""

    def __init__(
        self,
        pipeline: str,
        table: DeltaTable | None,
        known: RowsByPath | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(pipeline, table, known)
        self._clock = clock

    def append_reset(self, reset: Reset, origin: Origin, losses: Sequence[Loss] = ()) -> None:
        """Record a reset as intended, or as done, with what it leaves behind.

        Raises CommitConflict or CommitFailed.

        Their times order them: each is later than all before it, whatever its writer's clock says
        and however long ago its command began.
        """
        before = self._newest(self._resets_app_id)
        rows = reset_rows(reset, self._after_all_resets(origin), losses)
        self._append(rows, self._resets_app_id, before, before + 1)

    def append_plan(self, plan: Plan, origin: Origin) -> None:
        """Make new batches durable, all in one commit. Raises CommitConflict or CommitFailed."""
        first, last = plan.batches[0], plan.batches[-1]
        rows = plan_rows(plan, origin)
        self._append(rows, first.sequence.app_id, first.number - 1, last.number)

    def append_receipt(self, receipt: Receipt, origin: Origin) -> None:
        """Write a batch's receipt, once. Raises CommitConflict or CommitFailed."""
        batch = receipt.batch
        rows = receipt_rows(receipt, origin)
        self._append(rows, batch.sequence.receipts_app_id, batch.number - 1, batch.number)

    def append_recovery(
        self,
        batches: Sequence[Batch],
        receipts: Sequence[Receipt],
        losses: Iterable[tuple[BatchSequence, str, Loss]],
        opening: Reset,
        origin: Origin,
    ) -> None:
        """Record lost plans, receipts and losses, and the reset after them, all in one commit.

        A loss comes with its sequence and cluster id. Raises CommitConflict or CommitFailed.
        """
        before = self._newest(self._resets_app_id)
        numbers = {self._resets_app_id: before + 1}
        for first in {each.sequence: each for each in reversed(batches)}.values():
            if (unlisted := self.settled_before(first)) > self.settled(first.sequence):
                numbers[first.sequence.receipts_app_id] = unlisted
        numbers |= {each.sequence.app_id: each.number for each in batches}
        for each in (receipt.batch for receipt in receipts):
            settled = numbers.get(each.sequence.receipts_app_id, self.settled(each.sequence))
            assert each.number == settled + 1, f"{each}: the last one settled is {settled}"
            numbers[each.sequence.receipts_app_id] = each.number
        rows = [
            *(plan_rows(Plan(tuple(batches)), origin) if batches else ()),
            *(row for each in receipts for row in receipt_rows(each, origin)),
            *(loss_row(*each) | origin.columns() for each in losses),
            *reset_rows(opening, self._after_all_resets(origin)),
        ]
        self._commit(rows, numbers)

    def append_losses(
        self, losses: Iterable[tuple[BatchSequence, str, Loss]], origin: Origin
    ) -> None:
        """Record what is lost with a data table. Raises CommitConflict or CommitFailed."""
        self._commit([loss_row(*each) | origin.columns() for each in losses], {})

    def append_drop(self, drop: Drop, origin: Origin) -> None:
        """Record a drop from quarantine. Raises CommitConflict or CommitFailed."""
        app_id = f"sluice:{self._pipeline}:drops"
        before = self._newest(app_id)
        self._append(drop_rows(drop, origin), app_id, before, before + 1)

    def append_doubt(self, doubt: Doubt, origin: Origin) -> None:
        """Record a doubt about a committed batch. Raises CommitConflict or CommitFailed."""
        before = self._newest(self._doubts_app_id)
        self._append(doubt_rows(doubt, origin), self._doubts_app_id, before, before + 1)

    def mark(self, table_id: str) -> Mark | None:
        """How far others' commits to a table were judged; None where nobody has marked it."""
        version, digest = map(self._newest, mark_ids(self._pipeline, table_id))
        return Mark(table_id, version, digest) if version else None

    def append_marks(self, marks: Sequence[Mark]) -> None:
        """Mark tables as judged, in a commit without rows.

        Raises CommitConflict where another process has marked one since, else as `append_plan`.
        """
        if self._table is None:
            raise CommitConflict(self._pipeline)
        numbers = {name: n for each in marks for name, n in each.numbers(self._pipeline).items()}
        ids = self._ids(numbers)
        reach("offsets to commit")
        commit_only_ids(self._table, ids, self._clock.now())
        reach("offsets committed")

    def _after_all_resets(self, origin: Origin) -> Origin:
        times = [row["recorded_at"] for row in self._reset_rows()]
        now = max([origin.at, *(each + timedelta(microseconds=1) for each in times)])
        return replace(origin, at=now)

    def _append(
        self, rows: Iterable[dict[str, Any]], app_id: str, expected: int, number: int
    ) -> None:
        if self._newest(app_id) != expected:
            raise CommitConflict(app_id)
        self._commit(rows, {app_id: number})

    def _commit(self, rows: Iterable[dict[str, Any]], numbers: Mapping[str, int]) -> None:
        if self._table is None:
            raise CommitConflict(self._pipeline)
        by = CommitProperties(app_transactions=self._ids(numbers))
        table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
        reach("offsets to commit")
        with committing(self._table):
            write_deltalake(
                self._table, table, mode="append", schema_mode="merge", commit_properties=by
            )
        reach("offsets committed")

    def _ids(self, numbers: Mapping[str, int]) -> list[Transaction]:
        """The transaction ids of a commit; after it, all is read again."""
        self.forget()
        now = int(self._clock.now().timestamp() * 1000)
        return [Transaction(*each, now) for each in numbers.items()]
