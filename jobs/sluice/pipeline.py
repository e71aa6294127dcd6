"""The pipeline: the protocol as a script, and the one entry point for DAGs, CLI and tests.

    plan     make the ranges of the next batches durable, or adopt those that are not committed yet
             (`backfill` plans what is reread, in a lane of its own)
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

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sluice.broker.client_settings import ClientSettings
from sluice.connections import connection_extra
from sluice.lake.opened import SparkEngine
from sluice.lake.session import open_at
from sluice.lake.spark_place import OWN_SPARK, SparkPlace, place_in
from sluice.operations.commands import OperatorCommands
from sluice.progress.resources import PipelineResources
from sluice.registry.known_registries import FindRegistry, no_registry
from sluice.settings import Settings
from sluice.spec_folder import SpecFolder, find_spec, read_specs
from sluice.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from sluice.lake.port import Lake, ShowReading
    from sluice.offsets.batches import BatchReference
    from sluice.offsets.origin import Origin
    from sluice.operations.backfill.selection import Selection
    from sluice.operations.overview.fleet import Fleet
    from sluice.protocol.ingest.landed import LandedBatch
    from sluice.protocol.plan.log_ends import LogEnds
    from sluice.protocol.plan.outlook import Outlook
    from sluice.protocol.plan.write_plan import PlannedWork
    from sluice.protocol.settle.announcements import Announced, Announcement
    from sluice.protocol.settle.write_receipts import Settlement
    from sluice.registry.client import Registry
    from sluice.spec_file.pipeline_spec import PipelineSpec


@dataclass(frozen=True)
class Pipeline(OperatorCommands):
    """One pipeline: the protocol's steps; what operators ask for besides is inherited."""

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
        """Open Spark, and land the batches that are not committed yet."""
        with self.open_lake(self.span(work)) as lake:
            self.ingest(work, lake)

    def span(self, work: BatchReference) -> int | None:
        """How many offsets the work's batches have; None where they replace rows."""
        from sluice.protocol.ingest.outstanding import span_of_work

        return span_of_work(self.resources, work)

    def landed(self, work: BatchReference) -> tuple[LandedBatch, ...]:
        """The batches of the work that are committed, each with its version and its rows."""
        from sluice.protocol.ingest.landed import read_landed

        return read_landed(self.resources, work)

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

        return settle(self.resources, self._origin(run_id, actor))

    def announced(self, told: Iterable[object], work: BatchReference | None) -> Announced:
        """How far earlier announcements go; read it before the run settles its work."""
        from sluice.protocol.settle.announce import read_announced

        return read_announced(self.resources, told, work)

    def announce(self, before: Announced) -> Announcement:
        """What is settled and not announced yet; falsy if there is no news."""
        from sluice.protocol.settle.announce import announce

        return announce(self.resources, before)

    def log_ends(self) -> LogEnds:
        """The end of what can be read now, by partition."""
        from sluice.protocol.plan.log_ends import read_log_ends

        return read_log_ends(self.resources)

    def has_reached(self, ends: LogEnds) -> bool:
        """Whether everything below these ends is in the table, as far as a plan has looked."""
        from sluice.protocol.plan.log_ends import has_reached

        return has_reached(self.resources, ends)

    def _after_any_reset(self, run_id: str, actor: str) -> Origin:
        """Finish an interrupted reset before anything is planned."""
        origin = self._origin(run_id, actor)
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
    spec = _in_deployment(spec, settings)
    resources = PipelineResources.of(spec, tables, client, find_registry=find_registry)
    return Pipeline(resources, SparkEngine(open_at(place, tables)))


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


def find_fleet(environment: Mapping[str, str], only: str | None = None) -> Fleet:
    """All pipelines with a valid spec, or only this one; contacts nothing yet.

    Raises SettingsError, or SpecError for a name without a valid spec.
    """
    settings = Settings.from_environment(environment)
    if only:
        specs = SpecFolder({settings.pipelines: find_spec(settings.pipelines, only)}, {})
    else:
        specs = read_specs(settings.pipelines)
    return open_fleet(specs, settings, lambda connection: connection_extra(connection, environment))


def open_fleet(
    specs: SpecFolder,
    settings: Settings,
    extra_of: Callable[[str], Mapping[str, Any]],
) -> Fleet:
    """The pipelines of these specs; `extra_of` names a connection's `extra`. Contacts nothing."""
    from sluice.operations.overview.fleet import Fleet

    tables = Warehouse(settings.warehouse, settings.warehouse_name)
    accepted = [_in_deployment(each, settings) for each in specs.accepted.values()]
    return Fleet(accepted, tables, extra_of, specs.refused)


def _in_deployment(spec: PipelineSpec, settings: Settings) -> PipelineSpec:
    """The spec, whose consumer group has the deployment's prefix."""
    if not settings.group_prefix or spec.consumer_group is None:
        return spec
    group = f"{settings.group_prefix}{spec.consumer_group}"
    return spec.model_copy(update={"consumer_group": group})
