"""The pipeline: plan, ingest, settle. What DAG tasks, the command line and the tests all call.

    plan     make the ranges of the next batches durable, or adopt those that are not committed yet
    ingest   land them in order, one data commit each
    settle   write receipts for what is committed; then mirror the cursor to the consumer group

Each verb may be called again after a crash at any line: whether a batch is committed is decided by
the data table's transaction version alone, which is read again before and after every write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sluice.broker.kafka_client import KafkaClient
from sluice.landing import Lake
from sluice.pipeline.ingest import ingest
from sluice.pipeline.parts import Parts
from sluice.pipeline.plan import plan
from sluice.pipeline.settle import Settlement, settle
from sluice.settings import Settings
from sluice.spec import PipelineSpec
from sluice.tables.offsets_rows import Origin
from sluice.work import Work

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
        committed = self.parts.data.committed(work.sequence)
        return replace(work, batches=tuple(n for n in work.batches if n > committed))

    def ingest(self, work: Work, lake: Lake) -> None:
        """Land the batches that are not committed yet."""
        ingest(self.parts, work, lake)

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
