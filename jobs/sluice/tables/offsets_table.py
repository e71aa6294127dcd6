"""The offsets table of a pipeline: plans before, receipts after. With delta-rs, no JVM.

Both kinds of rows are appended by compare-and-set: the commit carries a Delta transaction id whose
version is the newest batch's number, and delta-rs refuses it when another commit with the same id
landed after the snapshot it was based on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from sluice.errors import CommitConflict, CommitFailed, TableRefused
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.history import LaneHistory
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.quarantined import Drop
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset, Resets
from sluice.tables.log_end import LogEnd
from sluice.tables.offsets_columns import Condition, OffsetsColumns, read_rows
from sluice.tables.offsets_rows import (
    drop_rows,
    plan_rows,
    read_batches,
    read_losses,
    read_receipts,
    receipt_rows,
)
from sluice.tables.offsets_schema import SCHEMA
from sluice.tables.offsets_upkeep import clean, compact
from sluice.tables.ownership import OWNER, require_owner
from sluice.tables.reset_rows import DONE, INTENDED, read_resets, reset_rows

log = logging.getLogger(__name__)

# Compact only above this many files: few to read, yet not rewritten on every plan and receipt.
_MANY_FILES = 20


class OffsetsSnapshot:
    """The offsets table at one version: decisions are based on it and committed against it."""

    def __init__(self, pipeline: str, table: DeltaTable | None) -> None:
        self._pipeline = pipeline
        self._table = table
        self._known: dict[str, list[dict[str, Any]]] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a table."""
        return self._table is not None

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
            committed_before=resets.committed_before(sequence.generation),
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

    @property
    def columns(self) -> OffsetsColumns:
        """The ranges of plans and receipts in columns: few or very many."""
        return OffsetsColumns(self._table)

    def losses(self) -> Mapping[BatchSequence, list[Loss]]:
        """Every recorded loss, by the sequence that recorded it."""
        found: dict[BatchSequence, list[dict[str, Any]]] = {}
        for row in self._read([("event", "=", "loss")]):
            sequence = BatchSequence(self._pipeline, row["lane"], row["generation"])
            found.setdefault(sequence, []).append(row)
        return {sequence: list(read_losses(rows)) for sequence, rows in sorted(found.items())}

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
        """The rows that meet all conditions, read once."""
        known = self._known.get(repr(wanted))
        if known is None:
            known = self._known[repr(wanted)] = read_rows(self._table, wanted)
        return known

    def _newest(self, app_id: str) -> int:
        return (self._table.transaction_version(app_id) or 0) if self._table else 0

    def _append(
        self, rows: Iterable[dict[str, Any]], app_id: str, expected: int, number: int
    ) -> None:
        if self._table is None or self._newest(app_id) != expected:
            raise CommitConflict(app_id)
        self._known.clear()
        try:
            write_deltalake(
                self._table,
                pa.Table.from_pylist(list(rows), schema=SCHEMA),
                mode="append",
                commit_properties=CommitProperties(
                    app_transactions=[Transaction(app_id, number, _now())]
                ),
            )
        except CommitFailedError:
            raise CommitConflict(app_id) from None
        except (DeltaError, OSError) as problem:
            # The next attempt reads whether it landed, and adopts what it finds.
            raise CommitFailed(f"offsets table: {problem}. Run again.") from problem


def _now() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


class OffsetsTable:
    """The offsets table of one pipeline, beside its data table."""

    def __init__(self, uri: str, pipeline: str, version_1: str) -> None:
        self.uri = uri
        self._pipeline = pipeline
        self._version_1 = version_1
        self._read: tuple[LogEnd, OffsetsSnapshot] | None = None

    def snapshot(self) -> OffsetsSnapshot:
        """The current table, for reading; empty when there is none yet.

        Raises TableRefused where it is another pipeline's, or version 1's is still in use.
        """
        if self._read is not None and self._read[0].stands():
            return self._read[1]
        try:
            table = DeltaTable(self.uri)
        except TableNotFoundError:
            self._require_no_version_1()
            return OffsetsSnapshot(self._pipeline, None)
        require_owner(self.uri, table, self._pipeline)
        found = OffsetsSnapshot(self._pipeline, table)
        self._read = LogEnd.of(table), found
        return found

    def snapshot_to_write(self) -> OffsetsSnapshot:
        """The current table, created when there is none yet. Raises as `snapshot` does."""
        found = self.snapshot()
        if found.exists:
            return found
        try:
            DeltaTable.create(
                self.uri,
                SCHEMA,
                mode="ignore",
                # One event's rows are found without reading another's.
                partition_by=["event"],
                description="Planned and committed Kafka offset ranges, by batch and partition",
                configuration={"delta.appendOnly": "true", OWNER: self._pipeline},
                raise_if_key_not_exists=False,
            )
        except CommitFailedError:
            log.debug("%s: another process has just created it", self.uri)
        return self.snapshot()

    def _require_no_version_1(self) -> None:
        if DeltaTable.is_deltatable(self._version_1) and not DeltaTable.is_deltatable(self.uri):
            raise TableRefused(
                f"{self.uri}: expected the pipeline's offsets table (format version 2), found"
                f" {self._version_1}, which version 1 had for all pipelines. `sluice recover"
                f" {self._pipeline}` builds the new table from the data table. Then move the old"
                " one away."
            )

    def compact_now_and_then(self) -> None:
        """Compact small files when there are many."""
        compact(self.uri, at_least=_MANY_FILES)

    def maintain(self) -> None:
        """Compact small files, delete unreferenced ones, write a checkpoint."""
        compact(self.uri)
        clean(self.uri)
