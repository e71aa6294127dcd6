"""The pipeline: plan, ingest, settle. What DAG tasks, the command line and the tests all call.

    plan     make the ranges of the next batches durable, or adopt those that are not committed yet
    ingest   land them in order, one data commit each
    settle   write receipts for what is committed; then mirror the cursor to the consumer group

Each verb may be called again after a crash at any line: whether a batch is committed is decided by
the data table's transaction version alone, which is read again before and after every write.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sluice.broker.kafka_client import KafkaClient
from sluice.landing import Lake
from sluice.pipeline.accepting import accept_gaps
from sluice.pipeline.ingest import ingest
from sluice.pipeline.parts import Parts
from sluice.pipeline.plan import plan
from sluice.pipeline.reset import preview_reset, reset
from sluice.pipeline.settle import Settlement, settle
from sluice.pipeline.targets import Target
from sluice.planning.ranges import OffsetRange
from sluice.planning.resets import Reset
from sluice.settings import Settings
from sluice.spec import PipelineSpec
from sluice.tables.offsets_rows import Origin
from sluice.work import Work

log = logging.getLogger(__name__)

__all__ = ["Lake", "Parts", "Pipeline", "Settlement", "Work", "open_pipeline"]


@dataclass(frozen=True)
class Pipeline:
    """One pipeline with its verbs."""

    parts: Parts

    def plan(self, run_id: str, actor: str) -> Work:
        """Decide and write down what the run works on; falsy when there is nothing new."""
        return plan(self.parts, _origin(run_id, actor))

    def outstanding(self, work: Work) -> Work:
        """Those of the batches that are not committed yet. Takes milliseconds, no JVM."""
        committed = self.parts.committed(work.sequence)
        if self.parts.data.closed(work.sequence):
            log.info("%s: superseded by a reset, which closed its generation", work)
            return replace(work, batches=())
        return replace(work, batches=tuple(n for n in work.batches if n > committed))

    def ingest(self, work: Work, lake: Lake) -> None:
        """Land the batches that are not committed yet."""
        ingest(self.parts, work, lake)

    def preview_reset(self, target: Target) -> Reset:
        """What a reset would do; nothing is written."""
        return preview_reset(self.parts, target)

    def reset(self, target: Target, reason: str, run_id: str, actor: str) -> Reset:
        """Close the generation and open the next one where the target says."""
        return reset(self.parts, target, reason, _origin(run_id, actor))

    def accept_gaps(
        self, gaps: Sequence[OffsetRange], reason: str, run_id: str, actor: str
    ) -> Settlement:
        """Record offsets that nothing explains as lost, and write the receipts they held back."""
        written = accept_gaps(self.parts, gaps, reason, _origin(run_id, actor))
        return Settlement(tuple(written))

    def settle(self, run_id: str, actor: str) -> Settlement:
        """Write all receipts that are due and mirror the cursor."""
        return settle(self.parts, _origin(run_id, actor))


def open_pipeline(
    spec: PipelineSpec, settings: Settings, kafka_extra: Mapping[str, Any]
) -> Pipeline:
    """The pipeline of a spec and its Kafka connection's `extra`; nothing is contacted yet."""
    client = KafkaClient.from_extra(spec.kafka, kafka_extra)
    return Pipeline(Parts.of(spec, settings.tables, client))


def _origin(run_id: str, actor: str) -> Origin:
    return Origin(run_id, actor, datetime.now(UTC))
