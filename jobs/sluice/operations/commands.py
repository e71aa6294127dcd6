"""The operators' commands of one pipeline. Each loads what it works with when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sluice.offsets.origin import Origin

if TYPE_CHECKING:
    from sluice.lake.port import Engine, Upkeep
    from sluice.offsets.batches import BatchReference
    from sluice.offsets.notation import Positions
    from sluice.offsets.quarantined import Drop, RecordFilter
    from sluice.offsets.ranges import OffsetRange
    from sluice.offsets.resets import Reset
    from sluice.operations.history import KnownBatch, PipelineHistory
    from sluice.operations.maintain import MaintenanceResult
    from sluice.operations.quarantine.listing import ChosenRecords, QuarantineListing
    from sluice.operations.quarantine.recover_rows import QuarantineRecovery
    from sluice.operations.recover.recovery import Recovery
    from sluice.operations.reset.preview import Preview
    from sluice.operations.reset.skip_rules import Skip
    from sluice.operations.reset.targets import Target
    from sluice.operations.run_summary import Summary
    from sluice.operations.status import PipelineStatus, UnknownStatus
    from sluice.operations.verify.kafka_logs import Progress
    from sluice.operations.verify.verify import Verdict
    from sluice.progress.resources import PipelineResources
    from sluice.protocol.settle.write_receipts import Settlement


@dataclass(frozen=True)
class OperatorCommands:
    """What operators ask of one pipeline."""

    resources: PipelineResources
    engine: Engine

    def status(self) -> PipelineStatus | UnknownStatus:
        """Where the cursor is, and how far it is behind."""
        from sluice.operations.status import read_status

        return read_status(self.resources)

    def history(self, newest: int) -> PipelineHistory:
        """The newest batches, resets and losses."""
        from sluice.operations.history import read_history

        return read_history(self.resources, newest)

    def batch(self, name: str) -> KnownBatch:
        """One batch by its name, and the spec that it was read with."""
        from sluice.operations.history import read_batch

        return read_batch(self.resources, name)

    def unfinished_backfill(self) -> list[str]:
        """What waits for the next backfill, in a sentence, if anything."""
        from sluice.progress.lane_state import read_unchecked
        from sluice.progress.unfinished import unfinished_backfill

        return list(unfinished_backfill(read_unchecked(self.resources, "backfill")))

    def summarize_plan(self, work: BatchReference) -> Summary:
        """What a run is to read, in one line and figures."""
        from sluice.operations.run_summary import summarize_plan

        return summarize_plan(self.resources, work)

    def summarize_settlement(self, settled: Settlement) -> Summary:
        """What a run has settled, and the lag that is left, in one line and figures."""
        from sluice.operations.run_summary import summarize_settlement

        return summarize_settlement(self.resources, settled)

    def verify(self, progress: Progress, since: datetime | None = None) -> Verdict:
        """Compare what is committed, all of it or since a moment, with what Kafka still holds."""
        from sluice.operations.verify.verify import verify

        return verify(self.resources, progress, since)

    def accept_gaps(
        self, gaps: Sequence[OffsetRange], reason: str, run_id: str, actor: str
    ) -> Settlement:
        """Record unexplained gaps as lost, and write the receipts that they held back."""
        from sluice.operations.verify.accept_gaps import accept_gaps
        from sluice.protocol.settle.write_receipts import Settlement

        written = accept_gaps(self.resources, gaps, reason, self._origin(run_id, actor))
        return Settlement(tuple(written))

    def preview_reset(self, target: Target) -> Preview:
        """What a reset would do; nothing is written."""
        from sluice.operations.reset.preview import preview_reset

        return preview_reset(self.resources, target)

    def reset(
        self,
        target: Target,
        reason: str,
        run_id: str,
        actor: str,
        as_previewed: str | None = None,
        bring_back_erased: bool = False,
    ) -> Reset:
        """Close the generation and open the next one at the target."""
        from sluice.operations.reset.close_generation import reset

        origin = self._origin(run_id, actor)
        return reset(self.resources, target, reason, origin, as_previewed, bring_back_erased)

    def recover(
        self,
        reason: str,
        run_id: str,
        actor: str,
        execute: bool,
        bring_back_erased: bool = False,
    ) -> Recovery:
        """Build the offsets table from the data table, or show what would be written."""
        from sluice.operations.recover.recover import preview_recovery, recover

        origin = self._origin(run_id, actor)
        if not execute:
            return preview_recovery(self.resources, reason, origin)
        return recover(self.resources, reason, origin, bring_back_erased)

    def preview_skip(self, positions: Positions, reason: str, actor: str) -> Skip:
        """How single offsets would be skipped; nothing is written."""
        from sluice.operations.reset.skip import preview_skip

        return preview_skip(self.resources, positions, reason, actor)

    def skip(
        self,
        positions: Positions,
        reason: str,
        run_id: str,
        actor: str,
        as_previewed: str | None = None,
    ) -> Skip:
        """Skip single offsets: a loss record for each, and a plan around them."""
        from sluice.operations.reset.skip import skip

        return skip(self.resources, positions, reason, self._origin(run_id, actor), as_previewed)

    def list_quarantine(self) -> QuarantineListing:
        """The quarantined records by cause."""
        from sluice.operations.quarantine.listing import list_quarantine

        return list_quarantine(self.resources)

    def choose_records(self, choice: RecordFilter, limit: int) -> ChosenRecords:
        """Quarantined records as Kafka had them."""
        from sluice.operations.quarantine.listing import choose_records

        return choose_records(self.resources, choice, limit)

    def preview_drop(self, choice: RecordFilter) -> Drop:
        """What dropping quarantined records would do; nothing is written."""
        from sluice.operations.quarantine.drop import preview_drop

        return preview_drop(self.resources, choice)

    def drop(self, choice: RecordFilter, reason: str, run_id: str, actor: str) -> Drop:
        """Record quarantined records as lost, and remove their rows with Spark."""
        from sluice.operations.quarantine.drop import drop

        return drop(self.resources, choice, reason, self._origin(run_id, actor), self._open_upkeep)

    def recover_quarantine(
        self,
        reason: str,
        run_id: str,
        actor: str,
        execute: bool,
        bring_back_erased: bool = False,
    ) -> QuarantineRecovery:
        """Read again what is gone from the quarantine, or show what would be done."""
        from sluice.operations.quarantine.recover_rows import (
            preview_quarantine_recovery,
            recover_quarantine,
        )

        if not execute:
            return preview_quarantine_recovery(self.resources)
        origin = self._origin(run_id, actor)
        return recover_quarantine(self.resources, reason, origin, bring_back_erased)

    def maintain(self, run_id: str, actor: str) -> MaintenanceResult:
        """Remove dead rows and small files with Spark; no row that counts is touched."""
        from sluice.operations.maintain import MaintenanceResult, is_new, maintain

        if is_new(self.resources):
            return MaintenanceResult()
        with self._open_upkeep() as upkeep:
            return maintain(self.resources, upkeep, self._origin(run_id, actor))

    def _origin(self, run_id: str, actor: str) -> Origin:
        """A run and who is behind it, now."""
        return Origin(run_id, actor, self.resources.clock.now())

    def _open_upkeep(self) -> AbstractContextManager[Upkeep]:
        return self.engine.upkeep(self.resources)
