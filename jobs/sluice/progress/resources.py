"""The resources of one pipeline: its spec and the external systems that its steps work on."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.broker.port import Cluster
from sluice.clock import SYSTEM_CHANCE, SYSTEM_CLOCK, Chance, Clock
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.known_registries import FindRegistry, no_registry
from sluice.registry.schema_book import SchemaBook
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaLog
from sluice.tables.offsets_table import OffsetsTable
from sluice.tables.quarantine_table import QuarantineTable
from sluice.tables.state_log import StateLog
from sluice.tables.warehouse import Warehouse


@dataclass(frozen=True)
class PipelineResources:
    """Everything that planning, ingesting and settling need, except Spark."""

    spec: PipelineSpec
    tables: Warehouse
    client: ClientSettings
    kafka: Cluster
    offsets: OffsetsTable
    data: DeltaLog
    quarantine: QuarantineTable
    state: StateLog
    schemas: SchemaBook
    clock: Clock
    chance: Chance

    @classmethod
    def of(
        cls,
        spec: PipelineSpec,
        tables: Warehouse,
        client: ClientSettings,
        kafka: Cluster | None = None,
        find_registry: FindRegistry = no_registry,
        clock: Clock = SYSTEM_CLOCK,
        chance: Chance = SYSTEM_CHANCE,
    ) -> PipelineResources:
        """Assemble the resources; nothing is contacted yet. Pipelines may share a cluster."""
        return cls(
            spec=spec,
            tables=tables,
            client=client,
            kafka=kafka or KafkaCluster(client),
            offsets=OffsetsTable(
                tables.offsets(spec.table), spec.pipeline, tables.offsets_version_1, clock
            ),
            data=DeltaLog(tables.data(spec.table)),
            quarantine=QuarantineTable(tables.quarantine(spec.table)),
            state=StateLog(tables.state(spec.table), spec.pipeline),
            schemas=SchemaBook(
                KeptSchemas(tables.offsets(spec.table), spec.pipeline), find_registry
            ),
            clock=clock,
            chance=chance,
        )

    @property
    def kept_spec(self) -> PipelineSpec:
        """The spec with the reader schemas that were kept; no registry is asked."""
        return self.schemas.as_kept(self.spec)
