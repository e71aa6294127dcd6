"""The parts of one pipeline: its spec and the outside things that the verbs work on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.errors import TableRefused
from sluice.offsets.batches import Batch, BatchSequence, Lane
from sluice.offsets.history import History
from sluice.offsets.resets import LANES, Resets
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaLog
from sluice.tables.fence import FENCE
from sluice.tables.offsets_table import OffsetsSnapshot, OffsetsTable
from sluice.tables.warehouse import Warehouse

# Each repetition means that somebody else has planned and committed between two reads.
_READINGS = 5


@dataclass(frozen=True)
class PipelineResources:
    """Everything that planning, ingesting and settling need, but for Spark."""

    spec: PipelineSpec
    tables: Warehouse
    client: ClientSettings
    kafka: KafkaCluster
    offsets: OffsetsTable
    data: DeltaLog
    quarantine: DeltaLog

    @classmethod
    def of(cls, spec: PipelineSpec, tables: Warehouse, client: ClientSettings) -> PipelineResources:
        """Put the parts together; nothing is contacted yet."""
        return cls(
            spec=spec,
            tables=tables,
            client=client,
            kafka=KafkaCluster(client),
            offsets=OffsetsTable(tables.offsets),
            data=DeltaLog(tables.data(spec.table)),
            quarantine=DeltaLog(tables.quarantine(spec.table)),
        )

    def progress(
        self, take_snapshot: Callable[[], OffsetsSnapshot], lane: Lane = "forward"
    ) -> tuple[OffsetsSnapshot, History, int]:
        """The offsets table now, a lane's history, and its last committed batch, which must agree.

        Others may plan, commit and reset between the two reads: then both are read once more.
        """
        for _ in range(_READINGS):
            snapshot = take_snapshot()
            resets = snapshot.resets(self.spec.pipeline)
            history = snapshot.history(replace(self._newest(resets), lane=lane), resets)
            committed = self.data.committed(history.sequence)
            if committed <= history.planned:
                break
        try:
            history.agree_with(committed, self.tables.data(self.spec.table))
        except TableRefused:
            # What was done to the table says more than the numbers, where its log still tells it.
            self.data.require_no_foreign_commits(self.spec.pipeline)
            raise
        return snapshot, history, committed

    def committed(self, sequence: BatchSequence) -> int:
        """The last committed batch of any sequence: of a closed one, where it was closed."""
        committed = self.data.committed(sequence)
        if committed < FENCE:
            return committed
        return self.offsets.snapshot().resets(self.spec.pipeline).closed_at(sequence)

    def committed_by_lane(self, sequence: BatchSequence) -> Mapping[Lane, int]:
        """The last committed batch of each lane of the sequence's generation."""
        return {lane: self.committed(replace(sequence, lane=lane)) for lane in LANES}

    def unfinished(self) -> tuple[Batch, ...]:
        """What the lanes have planned, and nobody has committed yet."""
        lanes = (self.progress(self.offsets.snapshot, lane) for lane in LANES)
        return tuple(batch for _, lane, committed in lanes for batch in lane.after(committed))

    def _newest(self, resets: Resets) -> BatchSequence:
        """The forward lane of the newest generation: a reset counts once its fence stands."""
        newest = resets.newest
        if newest is None:
            return BatchSequence(self.spec.pipeline, "forward", 1)
        closed = newest.closes[0]
        if newest.done or self.data.closed(closed):
            return replace(closed, generation=newest.generation)
        return closed
