"""The pipeline: the protocol as a script; what DAGs, command line and tests open.

    plan     make the ranges of the next batches durable, or adopt those that are not committed yet
             (`backfill` plans what is reread, in a lane of its own)
    ingest   land them in order, one data commit each
    settle   write receipts for committed batches; then mirror the cursor to the consumer group
    refresh  bring the state table, if there is one, to the newest version of the data table

    pipeline = find_pipeline("flights", os.environ)
    while work := pipeline.plan(run_id, actor):
        pipeline.land(work)
        pipeline.settle(run_id, actor)
    pipeline.refresh()

Each step may be called again after a crash at any line: only the data table's transaction version
decides whether a batch is committed, and it is read again before and after every write.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from sluice.broker.client_settings import ClientSettings
from sluice.connections import connection_extra
from sluice.lake.opened import SparkEngine
from sluice.lake.session import open_at
from sluice.lake.spark_place import OWN_SPARK, SparkPlace, place_in
from sluice.offsets.origin import Origin
from sluice.progress.resources import PipelineResources
from sluice.registry.known_registries import FindRegistry, no_registry
from sluice.settings import Settings
from sluice.spec_folder import find_spec, in_deployment
from sluice.tables.warehouse import Warehouse
from sluice.telling import deciding_nothing

if TYPE_CHECKING:
    from sluice.lake.port import Engine, Lake, ShowReading, StateLake, Upkeep
    from sluice.offsets.batches import BatchReference
    from sluice.offsets.notation import Positions
    from sluice.offsets.resets import Reset
    from sluice.operations.backfill.selection import Selection
    from sluice.operations.maintain import MaintenanceResult
    from sluice.operations.reset.preview import Preview
    from sluice.operations.reset.skip_rules import Skip
    from sluice.operations.reset.targets import Target
    from sluice.operations.status import PipelineStatus, UnknownStatus
    from sluice.operations.verify.kafka_logs import Progress
    from sluice.operations.verify.verify import Verdict
    from sluice.protocol.plan.outlook import Outlook
    from sluice.protocol.plan.write_plan import PlannedWork
    from sluice.protocol.refresh.making import Followed
    from sluice.protocol.settle.write_receipts import Settlement
    from sluice.registry.client import Registry
    from sluice.spec_file.pipeline_spec import PipelineSpec


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pipeline:
    """One pipeline: the protocol's steps, and the operations that several places ask for.

    The others are functions of its `resources`.
    """

    resources: PipelineResources
    engine: Engine

    @property
    def spec(self) -> PipelineSpec:
        """The pipeline's spec."""
        return self.resources.spec

    # 1 plan

    def plan(self, run_id: str, actor: str) -> BatchReference:
        """Decide what the run works on, and make it durable; falsy if there is nothing new."""
        from sluice.protocol.plan.write_plan import plan

        return plan(self.resources, self._after_any_reset(run_id, actor))

    def backfill(
        self, selection: Selection, run_id: str, actor: str, bring_back_erased: bool = False
    ) -> PlannedWork:
        """Plan which offsets below the cursor are reread, as far as Kafka holds them."""
        from sluice.operations.backfill.plan_backfill import plan_backfill

        origin = self._after_any_reset(run_id, actor)
        return plan_backfill(self.resources, selection, origin, bring_back_erased)

    def dry_run(self, selection: Selection | None = None) -> Outlook:
        """What the next run, or a backfill of the selection, would do. Writes nothing."""
        if selection is None:
            from sluice.protocol.plan.dry_run import dry_run

            return dry_run(self.resources)
        from sluice.operations.backfill.dry_run import dry_run_backfill

        return dry_run_backfill(self.resources, selection)

    # 2 ingest

    def outstanding(self, work: BatchReference) -> BatchReference:
        """The batches of the work that are not committed yet. Takes milliseconds, no JVM."""
        from sluice.protocol.ingest.outstanding import outstanding

        return outstanding(self.resources, work)

    def ingest(self, work: BatchReference, lake: Lake) -> None:
        """Land the batches that are not committed yet."""
        from sluice.protocol.ingest.land_batches import ingest

        ingest(self.resources, work, lake)

    def land(self, work: BatchReference) -> None:
        """Open Spark, and land the batches that are not committed yet; then refresh the state.

        What takes a data table of more rows than a batch is left to `refresh`. What keeps the state
        table from following is a warning: `refresh` says it again.
        """
        with self.open_lake(self.span(work)) as lake:
            self.ingest(work, lake)
            self.refresh_beside(lake)

    def span(self, work: BatchReference) -> int | None:
        """How many offsets the work's batches have; None where they replace rows."""
        from sluice.protocol.ingest.outstanding import span_of_work

        return span_of_work(self.resources, work)

    def open_lake(
        self, offsets: int | None = None, show: ShowReading | None = None
    ) -> AbstractContextManager[Lake]:
        """Spark for `ingest` of so many offsets: started and stopped, or a session of a server.

        How far a batch is read is shown, or logged. Raises SparkFailed.
        """
        return self.engine.lake(self.resources, offsets, show)

    # 3 settle

    def settle(self, run_id: str, actor: str) -> Settlement:
        """Write all due receipts and mirror the cursor."""
        from sluice.protocol.settle.write_receipts import settle

        return settle(self.resources, self.origin(run_id, actor))

    # 4 refresh

    def refresh(self) -> list[Followed]:
        """Bring the state table up to date; Spark is opened only where rows may have changed."""
        from sluice.protocol.refresh.refresh import refresh

        return refresh(self.resources, self.open_state)

    def refreshing(self, lake: Lake | None) -> Iterator[Followed]:
        """The same, each span as soon as it is followed; in this Spark, if it is open already."""
        from sluice.protocol.refresh.refresh import following

        return following(self.resources, self.open_state if lake is None else lake.state)

    def refresh_beside(self, lake: Lake) -> None:
        """The same in the Spark that batches have landed with, as far as that is short.

        A failure is only a warning.
        """
        from sluice.protocol.refresh.refresh import refresh_beside

        with deciding_nothing(log, "%s: the state table was not refreshed", self.spec.pipeline):
            refresh_beside(self.resources, lake.state)

    def status(self) -> PipelineStatus | UnknownStatus:
        """Where the cursor is, and how far it is behind."""
        from sluice.operations.status import read_status

        return read_status(self.resources)

    def verify(self, progress: Progress, since: datetime | None = None) -> Verdict:
        """Compare what is committed, all of it or since a moment, with what Kafka still holds.

        The state table, if there is one, is compared with the data table: this starts Spark.
        """
        from sluice.operations.verify.verify import verify

        open_state = partial(self.engine.state, self.resources)
        return verify(self.resources, progress, since, open_state)

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

        origin = self.origin(run_id, actor)
        return reset(self.resources, target, reason, origin, as_previewed, bring_back_erased)

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

        return skip(self.resources, positions, reason, self.origin(run_id, actor), as_previewed)

    def maintain(self, run_id: str, actor: str) -> MaintenanceResult:
        """Remove dead rows and small files with Spark; no row that counts is touched."""
        from sluice.operations.maintain import MaintenanceResult, is_new, maintain

        if is_new(self.resources):
            return MaintenanceResult()
        with self.open_upkeep() as upkeep:
            return maintain(self.resources, upkeep, self.origin(run_id, actor))

    def origin(self, run_id: str, actor: str) -> Origin:
        """A run and who is behind it, now."""
        return Origin(run_id, actor, self.resources.clock.now())

    def open_upkeep(self) -> AbstractContextManager[Upkeep]:
        """Spark for what removes rows and files: started and stopped."""
        return self.engine.upkeep(self.resources)

    def open_state(self) -> AbstractContextManager[StateLake]:
        """Spark for what writes the state table: started and stopped."""
        return self.engine.state(self.resources)

    def _after_any_reset(self, run_id: str, actor: str) -> Origin:
        """Finish an interrupted reset before anything is planned."""
        origin = self.origin(run_id, actor)
        if self.resources.offsets.snapshot().resets().interrupted:
            from sluice.operations.reset.close_generation import finish_reset

            finish_reset(self.resources, origin)
        return origin


def open_pipeline(
    spec: PipelineSpec,
    settings: Settings,
    kafka: Mapping[str, Any],
    place: SparkPlace = OWN_SPARK,
    find_registry: FindRegistry = no_registry,
) -> Pipeline:
    """The pipeline of a spec and its Kafka connection's `extra`; contacts nothing yet."""
    client = ClientSettings.from_extra(spec.kafka, kafka)
    tables = Warehouse(settings.warehouse, settings.warehouse_name)
    spec = in_deployment(spec, settings)
    resources = PipelineResources.of(spec, tables, client, find_registry=find_registry)
    return Pipeline(resources, SparkEngine(open_at(place, tables, client.signs_with_aws)))


def find_pipeline(name: str, environment: Mapping[str, str]) -> Pipeline:
    """The pipeline of that name; the environment names specs, tables and connections.

    Raises SpecError or SettingsError; contacts nothing yet.
    """
    settings = Settings.from_environment(environment)
    spec = find_spec(settings.pipelines, name)
    kafka = connection_extra(spec.kafka, environment)

    def find_registry(connection: str) -> Registry:
        from sluice.registry.client import Registry
        from sluice.registry.registry_settings import RegistrySettings

        return Registry(RegistrySettings.from_environment(connection, environment))

    return open_pipeline(spec, settings, kafka, place_in(environment), find_registry)
