"""The resources of one pipeline: its spec and the external systems that its steps work on."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaLog
from sluice.tables.offsets_table import OffsetsTable
from sluice.tables.warehouse import Warehouse


@dataclass(frozen=True)
class PipelineResources:
    """Everything that planning, ingesting and settling need, except Spark."""

    spec: PipelineSpec
    tables: Warehouse
    client: ClientSettings
    kafka: KafkaCluster
    offsets: OffsetsTable
    data: DeltaLog
    quarantine: DeltaLog

    @classmethod
    def of(
        cls,
        spec: PipelineSpec,
        tables: Warehouse,
        client: ClientSettings,
        kafka: KafkaCluster | None = None,
    ) -> PipelineResources:
        """Assemble the resources; nothing is contacted yet. Pipelines may share a cluster."""
        return cls(
            spec=spec,
            tables=tables,
            client=client,
            kafka=kafka or KafkaCluster(client),
            offsets=OffsetsTable(
                tables.offsets(spec.table), spec.pipeline, tables.offsets_version_1
            ),
            data=DeltaLog(tables.data(spec.table)),
            quarantine=DeltaLog(tables.quarantine(spec.table)),
        )
