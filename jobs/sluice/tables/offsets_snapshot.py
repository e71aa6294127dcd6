"""One version of an offsets table: what it says, and appends that are based on it.

Both kinds of rows are appended by compare-and-set: the commit carries a Delta transaction id whose
version is the newest batch's number, and delta-rs refuses it when another commit with the same id
landed after the snapshot it was based on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from sluice.errors import CommitConflict, OffsetsDamaged, TableRefused
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.history import LaneHistory
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.quarantined import Drop
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset, Resets
from sluice.tables.offsets_rows import (
    drop_rows,
    plan_rows,
    read_batches,
    read_receipts,
    receipt_rows,
)
from sluice.tables.offsets_schema import BEGUN_ANEW, SCHEMA
from sluice.tables.refusals import committing, reading
from sluice.tables.reset_rows import DONE, INTENDED, read_resets, reset_rows

# Column, operator, value: delta-rs and pyarrow share this form.
Condition = tuple[str, str, Any]


class OffsetsSnapshot:
    """The offsets table at one version: decisions are based on it and committed against it."""

    def __init__(self, pipeline: str, table: DeltaTable | None) -> None:
        self._pipeline = pipeline
        self._table = table

    @property
    def begun_anew(self) -> bool:
        """Whether somebody has decided that the pipeline begins once more."""
        return self._table is not None and BEGUN_ANEW in self._table.metadata().configuration

    def history(self, sequence: BatchSequence, resets: Resets) -> LaneHistory:
        """The part of a lane of one generation that the next decision needs."""
        planned = self.planned(sequence)
        settled = self.settled(sequence)
        return LaneHistory(
            sequence=sequence,
            planned=planned,
            settled=settled,
            batches=self.batches(sequence, first=max(settled, 1), last=planned),
            opening=resets.by_generation.get(sequence.generation),
        )

    def planned(self, sequence: BatchSequence) -> int:
        """The number of the last planned batch of a sequence, 0 when there is none."""
        return self._newest(sequence.app_id)

    def settled(self, sequence: BatchSequence) -> int:
        """The number of a sequence's last batch with a receipt, 0 when there is none."""
        return self._newest(sequence.receipts_app_id)

    def resets(self) -> Resets:
        """Every reset of the pipeline."""
        if self._newest(self._resets_app_id) == 0:
            return Resets({})
        return read_resets(self._pipeline, self._reset_rows())

    def batches(self, sequence: BatchSequence, first: int = 1, *, last: int) -> tuple[Batch, ...]:
        """The planned batches of a sequence, from one number to another."""
        return read_batches(sequence, self.rows(sequence, ["planned"], first, last))

    def receipts(self, sequence: BatchSequence, newest: int) -> list[Receipt]:
        """The newest receipts of a sequence, oldest first."""
        settled = self.settled(sequence)
        return self.receipts_of(sequence, max(1, settled - newest + 1), settled)

    def receipts_of(self, sequence: BatchSequence, first: int, last: int) -> list[Receipt]:
        """The receipts of a sequence, from one batch number to another."""
        return list(read_receipts(sequence, self.rows(sequence, ["committed"], first, last)))

    def rows(
        self, sequence: BatchSequence, events: list[str], first: int = 0, last: int | None = None
    ) -> list[dict[str, Any]]:
        """The sequence's rows of these events, limited to batches `first` to `last` where given.

        File statistics skip the files of other batches.
        """
        if last is not None and last < first:
            return []
        wanted: list[Condition] = [
            ("lane", "=", sequence.lane),
            ("generation", "=", sequence.generation),
            ("event", "in", events),
        ]
        if last is not None:
            wanted += [("batch_id", ">=", first), ("batch_id", "<=", last)]
        return self._read(wanted)

    def append_reset(self, reset: Reset, origin: Origin) -> None:
        """Record a reset as intended, or as done. Raises CommitConflict or CommitFailed.

        Their times order them: each is later than all before it, whatever its writer's clock says
        and however long ago its command began.
        """
        before = self._newest(self._resets_app_id)
        times = [row["recorded_at"] for row in self._reset_rows()]
        now = max([origin.at, *(each + timedelta(microseconds=1) for each in times)])
        rows = reset_rows(reset, replace(origin, at=now))
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
        opening: Reset,
        origin: Origin,
    ) -> None:
        """Record lost plans and receipts, and the reset after them, all in one commit.

        Raises CommitConflict or CommitFailed.
        """
        before = self._newest(self._resets_app_id)
        numbers = {self._resets_app_id: before + 1}
        numbers |= {each.sequence.app_id: each.number for each in batches}
        settled = [each.batch for each in receipts]
        numbers |= {each.sequence.receipts_app_id: each.number for each in settled}
        rows = [
            *(plan_rows(Plan(tuple(batches)), origin) if batches else ()),
            *(row for each in receipts for row in receipt_rows(each, origin)),
            *reset_rows(opening, origin),
        ]
        self._commit(rows, numbers)

    def append_drop(self, drop: Drop, origin: Origin) -> None:
        """Record a drop from quarantine. Raises CommitConflict or CommitFailed."""
        app_id = f"sluice:{self._pipeline}:drops"
        before = self._newest(app_id)
        self._append(drop_rows(drop, origin), app_id, before, before + 1)

    @property
    def _resets_app_id(self) -> str:
        return f"sluice:{self._pipeline}:resets"

    def _reset_rows(self) -> list[dict[str, Any]]:
        return self._read([("event", "in", [INTENDED, DONE])])

    def _read(self, wanted: list[Condition]) -> list[dict[str, Any]]:
        """The rows that meet all conditions. Raises CommitUnknown or OffsetsDamaged.

        Without the files' pruning, pyarrow compares the statistics of every column in every file.
        """
        if self._table is None:
            return []
        try:
            with reading(self._table.table_uri):
                files = self._table.to_pyarrow_dataset(file_pruning_predicate=wanted)
                rows = files.to_table(filter=pq.filters_to_expression(wanted))
        except TableRefused as gone:
            recover = f"`sluice recover {self._pipeline}` builds it from the data table."
            raise OffsetsDamaged(f"{gone} Or {recover}") from gone
        found: list[dict[str, Any]] = rows.to_pylist()
        return found

    def _newest(self, app_id: str) -> int:
        if self._table is None:
            return 0
        with reading(self._table.table_uri):
            return self._table.transaction_version(app_id) or 0

    def _append(
        self, rows: Iterable[dict[str, Any]], app_id: str, expected: int, number: int
    ) -> None:
        if self._newest(app_id) != expected:
            raise CommitConflict(app_id)
        self._commit(rows, {app_id: number})

    def _commit(self, rows: Iterable[dict[str, Any]], numbers: Mapping[str, int]) -> None:
        if self._table is None:
            raise CommitConflict(self._pipeline)
        now = _now()
        by = CommitProperties(app_transactions=[Transaction(*e, now) for e in numbers.items()])
        table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
        with committing(self._table):
            write_deltalake(self._table, table, mode="append", commit_properties=by)


def _now() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)
