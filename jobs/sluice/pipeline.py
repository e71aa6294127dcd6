"""The pipeline: the protocol as a script, and the one entry point for DAGs, CLI and tests.

    plan     make the ranges of the next batches durable, or adopt those that are not committed yet
    ingest   land them in order, one data commit each
    settle   write receipts for committed batches; then mirror the cursor to the consumer group

    pipeline = find_pipeline("flights", os.environ)
    while work := pipeline.plan(run_id, actor):
        pipeline.land(work)
        pipeline.settle(run_id, actor)

Each step may be called again after a crash at any line: only the data table's transaction version
decides whether a batch is committed, and it is read again before and after every write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sluice.broker.client_settings import ClientSettings
from sluice.lake.opened import OpenSpark, open_lake, open_upkeep
from sluice.lake.port import Lake, Upkeep
from sluice.lake.session import open_at
from sluice.lake.spark_place import OWN_SPARK, SparkPlace, place_in
from sluice.offsets.batches import BatchReference
from sluice.offsets.notation import Positions
from sluice.offsets.origin import Origin
from sluice.offsets.quarantined import Drop, RecordFilter
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.resets import Reset
from sluice.operations.backfill.dry_run import dry_run_backfill
from sluice.operations.backfill.plan_backfill import plan_backfill
from sluice.operations.backfill.selection import Selection
from sluice.operations.history import PipelineHistory, read_history
from sluice.operations.maintain import MaintenanceResult, maintain
from sluice.operations.quarantine.drop import drop, preview_drop
from sluice.operations.quarantine.listing import (
    ChosenRecords,
    QuarantineListing,
    choose_records,
    list_quarantine,
)
from sluice.operations.recover.recover import Recovery, preview_recovery, recover
from sluice.operations.reset.close_generation import finish_reset, preview_reset, reset
from sluice.operations.reset.preview import Preview
from sluice.operations.reset.skip import preview_skip, skip
from sluice.operations.reset.skip_rules import Skip
from sluice.operations.reset.targets import Target
from sluice.operations.status import PipelineStatus, read_status
from sluice.operations.verify.accept_gaps import accept_gaps
from sluice.operations.verify.proof import Progress
from sluice.operations.verify.verify import Verdict, verify
from sluice.progress.resources import PipelineResources
from sluice.protocol.ingest.land_batches import ingest
from sluice.protocol.ingest.outstanding import outstanding
from sluice.protocol.plan.dry_run import dry_run
from sluice.protocol.plan.log_ends import has_reached, read_log_ends
from sluice.protocol.plan.outlook import Outlook
from sluice.protocol.plan.write_plan import PlannedWork, plan
from sluice.protocol.settle.announce import announce, read_announced
from sluice.protocol.settle.announcements import Announced, Announcement
from sluice.protocol.settle.write_receipts import Settlement, settle
from sluice.settings import Settings, connection_extra
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.spec_files import find_spec
from sluice.tables.warehouse import Warehouse


@dataclass(frozen=True)
class Pipeline:
    """One pipeline: the protocol's steps first, then the operators' commands."""

    resources: PipelineResources
    open_spark: OpenSpark

    @property
    def spec(self) -> PipelineSpec:
        """The pipeline's spec."""
        return self.resources.spec

    # 1 plan

    def plan(self, run_id: str, actor: str) -> BatchReference:
        """Decide what the run works on, and make it durable; falsy if there is nothing new."""
        return plan(self.resources, self._after_any_reset(run_id, actor))

    def backfill(
        self, selection: Selection, run_id: str, actor: str, bring_back_erased: bool = False
    ) -> PlannedWork:
        """Plan which offsets below the cursor are reread, as far as Kafka holds them."""
        origin = self._after_any_reset(run_id, actor)
        return plan_backfill(self.resources, selection, origin, bring_back_erased)

    def dry_run(self, selection: Selection | None = None) -> Outlook:
        """What the next run, or a backfill of the selection, would do. Writes nothing."""
        if selection is None:
            return dry_run(self.resources)
        return dry_run_backfill(self.resources, selection)

    # 2 ingest

    def outstanding(self, work: BatchReference) -> BatchReference:
        """The batches of the work that are not committed yet. Takes milliseconds, no JVM."""
        return outstanding(self.resources, work)

    def ingest(self, work: BatchReference, lake: Lake) -> None:
        """Land the batches that are not committed yet."""
        ingest(self.resources, work, lake)

    def land(self, work: BatchReference) -> None:
        """Open Spark, and land the batches that are not committed yet."""
        with self.open_lake() as lake:
            self.ingest(work, lake)

    def open_lake(self) -> AbstractContextManager[Lake]:
        """Spark for `ingest`: started and stopped, or a session of a server. Raises SparkFailed."""
        return open_lake(self.resources, self.open_spark)

    # 3 settle

    def settle(self, run_id: str, actor: str) -> Settlement:
        """Write all due receipts and mirror the cursor."""
        return settle(self.resources, _origin(run_id, actor))

    def announced(self, told: Iterable[object], work: BatchReference | None) -> Announced:
        """How far earlier announcements go; read it before the run settles its work."""
        return read_announced(self.resources, told, work)

    def announce(self, before: Announced) -> Announcement:
        """What is settled and not announced yet; falsy if there is no news."""
        return announce(self.resources, before)

    def log_ends(self) -> Mapping[TopicPartition, int]:
        """The end of what can be read now, by partition."""
        return read_log_ends(self.resources)

    def has_reached(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Whether everything below these ends is in the table."""
        return has_reached(self.resources, ends)

    # The operators' commands

    def status(self) -> PipelineStatus:
        """Where the cursor is, and how far it is behind."""
        return read_status(self.resources)

    def history(self, newest: int) -> PipelineHistory:
        """The newest batches, resets and losses."""
        return read_history(self.resources, newest)

    def verify(self, progress: Progress, since: datetime | None = None) -> Verdict:
        """Compare what is committed, all of it or since a moment, with what Kafka still holds."""
        return verify(self.resources, progress, since)

    def accept_gaps(
        self, gaps: Sequence[OffsetRange], reason: str, run_id: str, actor: str
    ) -> Settlement:
        """Record unexplained gaps as lost, and write the receipts that they held back."""
        return Settlement(tuple(accept_gaps(self.resources, gaps, reason, _origin(run_id, actor))))

    def preview_reset(self, target: Target) -> Preview:
        """What a reset would do; nothing is written."""
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
        origin = _origin(run_id, actor)
        return reset(self.resources, target, reason, origin, as_previewed, bring_back_erased)

    def recover(self, reason: str, run_id: str, actor: str, execute: bool) -> Recovery:
        """Build the offsets table from the data table, or show what would be written."""
        decided = recover if execute else preview_recovery
        return decided(self.resources, reason, _origin(run_id, actor))

    def preview_skip(self, positions: Positions, reason: str, actor: str) -> Skip:
        """How single offsets would be skipped; nothing is written."""
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
        return skip(self.resources, positions, reason, _origin(run_id, actor), as_previewed)

    def list_quarantine(self) -> QuarantineListing:
        """The quarantined records by cause."""
        return list_quarantine(self.resources)

    def choose_records(self, choice: RecordFilter, limit: int) -> ChosenRecords:
        """Quarantined records as Kafka had them."""
        return choose_records(self.resources, choice, limit)

    def preview_drop(self, choice: RecordFilter) -> Drop:
        """What dropping quarantined records would do; nothing is written."""
        return preview_drop(self.resources, choice)

    def drop(self, choice: RecordFilter, reason: str, run_id: str, actor: str) -> Drop:
        """Record quarantined records as lost, and remove their rows with Spark."""
        return drop(self.resources, choice, reason, _origin(run_id, actor), self._open_upkeep)

    def maintain(self, run_id: str, actor: str) -> MaintenanceResult:
        """Remove dead rows and small files with Spark; no row that counts is touched."""
        with self._open_upkeep() as upkeep:
            return maintain(self.resources, upkeep, _origin(run_id, actor))

    def _open_upkeep(self) -> AbstractContextManager[Upkeep]:
        return open_upkeep(self.resources, self.open_spark)

    def _after_any_reset(self, run_id: str, actor: str) -> Origin:
        """Finish an interrupted reset before anything is planned."""
        origin = _origin(run_id, actor)
        finish_reset(self.resources, origin)
        return origin


def open_pipeline(
    spec: PipelineSpec, settings: Settings, kafka: Mapping[str, Any], place: SparkPlace = OWN_SPARK
) -> Pipeline:
    """The pipeline of a spec and its Kafka connection's `extra`; contacts nothing yet."""
    client, tables = ClientSettings.from_extra(spec.kafka, kafka), Warehouse(settings.warehouse)
    return Pipeline(PipelineResources.of(spec, tables, client), open_at(place, tables))


def find_pipeline(name: str, environment: Mapping[str, str]) -> Pipeline:
    """The pipeline of that name, by the environment. Raises SpecError or SettingsError."""
    settings = Settings.from_environment(environment)
    spec = find_spec(settings.pipelines, name)
    place = place_in(environment)
    return open_pipeline(spec, settings, connection_extra(spec.kafka, environment), place)


def _origin(run_id: str, actor: str) -> Origin:
    return Origin(run_id, actor, datetime.now(UTC))
