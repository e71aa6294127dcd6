"""The parts of one pipeline: its spec and the outside things that the verbs work on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sluice.broker.kafka_client import KafkaClient
from sluice.broker.kafka_log import KafkaLog
from sluice.planning.history import History
from sluice.spec import PipelineSpec
from sluice.tables.data_log import DataLog
from sluice.tables.offsets_table import OffsetsSnapshot, OffsetsTable
from sluice.tables.warehouse import Warehouse


@dataclass(frozen=True)
class Parts:
    """Everything that planning, ingesting and settling need, but for Spark."""

    spec: PipelineSpec
    tables: Warehouse
    client: KafkaClient
    kafka: KafkaLog
    offsets: OffsetsTable
    data: DataLog
    quarantine: DataLog

    @classmethod
    def of(cls, spec: PipelineSpec, tables: Warehouse, client: KafkaClient) -> Parts:
        """Put the parts together; nothing is contacted yet."""
        return cls(
            spec=spec,
            tables=tables,
            client=client,
            kafka=KafkaLog(client),
            offsets=OffsetsTable(tables.offsets),
            data=DataLog(tables.data(spec.table)),
            quarantine=DataLog(tables.quarantine(spec.table)),
        )

    @property
    def records_losses(self) -> bool:
        """Whether lost records are recorded and passed over, instead of stopping the run."""
        return self.spec.on_data_loss == "record"

    def progress(
        self, take_snapshot: Callable[[], OffsetsSnapshot]
    ) -> tuple[OffsetsSnapshot, History, int]:
        """The offsets table now, its history, and the last committed batch, which must agree.

        Others may plan and commit between the two reads: then the history is read once more.
        """
        snapshot = take_snapshot()
        history = snapshot.history(self.spec.pipeline)
        committed = self.data.committed(history.sequence)
        if committed > history.planned:
            snapshot = take_snapshot()
            history = snapshot.history(self.spec.pipeline)
            if committed <= history.planned:
                committed = min(self.data.committed(history.sequence), history.planned)
        history.agree_with(committed, self.tables.data(self.spec.table))
        return snapshot, history, committed
