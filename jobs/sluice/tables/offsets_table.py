"""The offsets table: plans before, receipts after. Written and read with delta-rs, no JVM.

Both kinds of rows are appended by compare-and-set: the commit carries a Delta transaction id whose
version is the newest batch's number, and delta-rs refuses it when another commit with the same id
landed after the snapshot it was based on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from sluice.errors import CommitConflict, CommitFailed
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
from sluice.tables.offsets_upkeep import clean, compact
from sluice.tables.reset_rows import DONE, INTENDED, read_resets, reset_rows

log = logging.getLogger(__name__)

# Column, operator, value: delta-rs and pyarrow share this form.
Condition = tuple[str, str, Any]

# Compact only above this many files: few to read, yet not rewritten on every plan and receipt.
_MANY_FILES = 20
_LONG = ("start_offset", "end_offset", "log_start_offset", "last_stable_offset")
_COUNTS = ("records", "quarantined", "gaps", "gap_control", "gap_aborted", "gap_compacted")

SCHEMA = pa.schema(
    [
        pa.field("format_version", pa.int32(), nullable=False),
        pa.field("pipeline", pa.string(), nullable=False),
        pa.field("lane", pa.string(), nullable=False),
        pa.field("generation", pa.int32(), nullable=False),
        ("batch_id", pa.int64()),
        ("batch", pa.string()),
        pa.field("event", pa.string(), nullable=False),
        ("mode", pa.string()),
        ("topic", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        *((name, pa.int64()) for name in _LONG),
        ("leader_epoch", pa.int32()),
        *((name, pa.int64()) for name in _COUNTS),
        ("gap_lost", pa.int64()),
        ("data_version", pa.int64()),
        ("cursor_before", pa.int64()),
        ("cursor_after", pa.int64()),
        ("closed_at", pa.int64()),
        ("cluster_id", pa.string()),
        ("run_id", pa.string()),
        ("actor", pa.string()),
        ("reason", pa.string()),
        pa.field("recorded_at", pa.timestamp("us", "UTC"), nullable=False),
    ]
)


class OffsetsSnapshot:
    """The offsets table at one version: decisions are based on it and committed against it."""

    def __init__(self, table: DeltaTable | None) -> None:
        self._table = table

    def history(self, sequence: BatchSequence, resets: Resets) -> LaneHistory:
        """The part of a lane of one generation that the next decision needs."""
        planned = self.planned(sequence)
        settled = self._newest(sequence.receipts_app_id)
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

    def resets(self, pipeline: str) -> Resets:
        """Every reset of the pipeline; file statistics skip all files without one."""
        if self._newest(_resets_app_id(pipeline)) == 0:
            return Resets({})
        return read_resets(pipeline, self._reset_rows(pipeline))

    def batches(self, sequence: BatchSequence, first: int = 1, *, last: int) -> tuple[Batch, ...]:
        """The planned batches of a sequence, from one number to another."""
        return read_batches(sequence, self.rows(sequence, ["planned"], first, last))

    def receipts(self, sequence: BatchSequence, newest: int) -> list[Receipt]:
        """The newest receipts of a sequence, oldest first."""
        settled = self._newest(sequence.receipts_app_id)
        return self.receipts_of(sequence, max(1, settled - newest + 1), settled)

    def receipts_of(self, sequence: BatchSequence, first: int, last: int) -> list[Receipt]:
        """The receipts of a sequence, from one batch number to another."""
        batches = {each.number: each for each in self.batches(sequence, first, last=last)}
        return list(read_receipts(batches, self.rows(sequence, ["committed"], first, last)))

    def rows(
        self, sequence: BatchSequence, events: list[str], first: int = 0, last: int | None = None
    ) -> list[dict[str, Any]]:
        """The sequence's rows of these events, limited to batches `first` to `last` where given.

        File statistics skip the files of other batches.
        """
        if last is not None and last < first:
            return []
        wanted: list[Condition] = [
            ("pipeline", "=", sequence.pipeline),
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
        app_id = _resets_app_id(reset.pipeline)
        before = self._newest(app_id)
        times = [row["recorded_at"] for row in self._reset_rows(reset.pipeline)]
        now = max([origin.at, *(each + timedelta(microseconds=1) for each in times)])
        rows = reset_rows(reset, replace(origin, at=now))
        self._append(rows, app_id, before, before + 1)

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

    def append_drop(self, drop: Drop, origin: Origin) -> None:
        """Record a drop from quarantine. Raises CommitConflict or CommitFailed."""
        app_id = f"sluice:{drop.sequence.pipeline}:drops"
        before = self._newest(app_id)
        self._append(drop_rows(drop, origin), app_id, before, before + 1)

    def _reset_rows(self, pipeline: str) -> list[dict[str, Any]]:
        return self._read([("pipeline", "=", pipeline), ("event", "in", [INTENDED, DONE])])

    def _read(self, wanted: list[Condition]) -> list[dict[str, Any]]:
        """The rows that meet all conditions.

        Without the files' pruning, pyarrow compares the statistics of every column in every file.
        """
        if self._table is None:
            return []
        files = self._table.to_pyarrow_dataset(file_pruning_predicate=wanted)
        found: list[dict[str, Any]] = files.to_table(
            filter=pq.filters_to_expression(wanted)
        ).to_pylist()
        return found

    def _newest(self, app_id: str) -> int:
        return (self._table.transaction_version(app_id) or 0) if self._table else 0

    def _append(
        self, rows: Iterable[dict[str, Any]], app_id: str, expected: int, number: int
    ) -> None:
        if self._table is None or self._newest(app_id) != expected:
            raise CommitConflict(app_id)
        try:
            write_deltalake(
                self._table,
                pa.Table.from_pylist(list(rows), schema=SCHEMA),
                mode="append",
                commit_properties=CommitProperties(app_transactions=[Transaction(app_id, number)]),
            )
        except CommitFailedError:
            raise CommitConflict(app_id) from None
        except (DeltaError, OSError) as problem:
            # The next attempt reads whether it landed, and adopts what it finds.
            raise CommitFailed(f"offsets table: {problem}. Run again.") from problem


def _resets_app_id(pipeline: str) -> str:
    return f"sluice:{pipeline}:resets"


class OffsetsTable:
    """The offsets table of all pipelines."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def snapshot(self) -> OffsetsSnapshot:
        """The current table, for reading; empty when there is none yet."""
        try:
            return OffsetsSnapshot(DeltaTable(self._uri))
        except TableNotFoundError:
            return OffsetsSnapshot(None)

    def snapshot_to_write(self) -> OffsetsSnapshot:
        """The current table, created when there is none yet."""
        try:
            DeltaTable.create(
                self._uri,
                SCHEMA,
                mode="ignore",
                partition_by=["pipeline"],
                description="Planned and committed Kafka offset ranges, by batch and partition",
                configuration={"delta.appendOnly": "true"},
            )
        except CommitFailedError:
            log.debug("offsets table %s: another process has just created it", self._uri)
        return OffsetsSnapshot(DeltaTable(self._uri))

    def compact_now_and_then(self, pipeline: str) -> None:
        """Compact the pipeline's small files when there are many."""
        compact(self._uri, pipeline, at_least=_MANY_FILES)

    def maintain(self, pipeline: str) -> None:
        """Compact the pipeline's files, delete unreferenced ones, write a checkpoint."""
        compact(self._uri, pipeline)
        clean(self._uri)
