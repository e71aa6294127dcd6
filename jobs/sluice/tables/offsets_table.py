"""The offsets table of a pipeline: plans before, receipts after. With delta-rs, no JVM.

Both kinds of rows are appended by compare-and-set: the commit carries a Delta transaction id whose
version is the newest batch's number, and delta-rs refuses it when another commit with the same id
landed after the snapshot it was based on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, TableNotFoundError

from sluice.errors import CommitConflict, TableRefused
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.quarantined import Drop
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset
from sluice.tables.log_end import LogEnd
from sluice.tables.offsets_reading import OffsetsReading
from sluice.tables.offsets_rows import (
    drop_rows,
    plan_rows,
    receipt_rows,
)
from sluice.tables.offsets_schema import SCHEMA
from sluice.tables.offsets_upkeep import clean, compact, compact_now_and_then
from sluice.tables.ownership import OWNER, require_owner
from sluice.tables.refusals import committing, reading, storing
from sluice.tables.reset_rows import reset_rows


class OffsetsSnapshot(OffsetsReading):
    """The offsets table at one version: decisions are based on it and committed against it."""

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

    def _append(
        self, rows: Iterable[dict[str, Any]], app_id: str, expected: int, number: int
    ) -> None:
        if self._table is None or self._newest(app_id) != expected:
            raise CommitConflict(app_id)
        by = CommitProperties(app_transactions=[Transaction(app_id, number, _now())])
        table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
        self._known.clear()
        self._numbers.clear()
        with committing(self._table):
            write_deltalake(self._table, table, mode="append", commit_properties=by)


def _now() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


class OffsetsTable:
    """The offsets table of one pipeline, beside its data table."""

    def __init__(self, uri: str, pipeline: str, version_1: str) -> None:
        self.uri = uri
        self._pipeline = pipeline
        self._version_1 = version_1
        self._seen: tuple[LogEnd, OffsetsSnapshot] | None = None

    def snapshot(self) -> OffsetsSnapshot:
        """The current table, for reading; empty when there is none yet.

        Raises TableRefused where it is another pipeline's, or version 1's is still in use;
        CommitUnknown where its log is unreadable.
        """
        if self._seen is not None and self._seen[0].stands():
            return self._seen[1]
        with reading(self.uri):
            try:
                table = DeltaTable(self.uri)
            except TableNotFoundError:
                self._require_no_version_1()
                return OffsetsSnapshot(self._pipeline, None)
            end = LogEnd.of(table)
        require_owner(self.uri, table, self._pipeline)
        self._seen = end, OffsetsSnapshot(self._pipeline, table)
        return self._seen[1]

    def snapshot_to_write(self) -> OffsetsSnapshot:
        """The current table, created when there is none yet. Raises as `snapshot`; CommitFailed."""
        found = self.snapshot()
        if found.exists:
            return found
        with storing(self.uri):
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
                # Unless another process has just created it.
                if not DeltaTable.is_deltatable(self.uri):
                    raise
        return self.snapshot()

    def _require_no_version_1(self) -> None:
        with reading(self.uri):
            found = DeltaTable.is_deltatable(self._version_1)
            found = found and not DeltaTable.is_deltatable(self.uri)
        if found:
            raise TableRefused(
                f"{self.uri}: expected the pipeline's offsets table (format version 2), found"
                f" {self._version_1}, which version 1 had for all pipelines. `sluice recover"
                f" {self._pipeline}` builds the new table from the data table. Then move the old"
                " one away."
            )

    def compact_now_and_then(self) -> None:
        """Compact small files when there are many; a failure is only a warning."""
        compact_now_and_then(self.uri)

    def maintain(self) -> None:
        """Compact small files, delete unreferenced ones, write a checkpoint."""
        compact(self.uri)
        clean(self.uri)
