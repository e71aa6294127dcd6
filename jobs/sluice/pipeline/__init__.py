"""The pipeline: plan, ingest, settle. What DAG tasks, the command line and the tests all call.

    plan     make the ranges of the next batches durable, or adopt those that are not committed yet
             (`backfill` plans what is read once more, in a lane of its own)
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
from sluice.errors import BackfillClosed
from sluice.landing import Lake
from sluice.pipeline.accepting import accept_gaps
from sluice.pipeline.affected import Preview
from sluice.pipeline.backfill import plan_backfill
from sluice.pipeline.dropping import OpenUpkeep, drop, preview_drop
from sluice.pipeline.ingest import ingest
from sluice.pipeline.look import look, look_again
from sluice.pipeline.maintain import Maintained, maintain
from sluice.pipeline.parts import Parts
from sluice.pipeline.plan import Written, plan
from sluice.pipeline.reset import preview_reset, reset
from sluice.pipeline.settle import Settlement, settle
from sluice.pipeline.skip import preview_skip, skip
from sluice.pipeline.targets import Target
from sluice.pipeline.wanted import Asked
from sluice.planning.aside import Choice
from sluice.planning.drops import Drop
from sluice.planning.outlook import Outlook
from sluice.planning.ranges import OffsetRange
from sluice.planning.resets import Reset
from sluice.planning.skips import Skip
from sluice.planning.written import Positions
from sluice.settings import Settings, connection_extra
from sluice.spec import PipelineSpec, find_spec
from sluice.tables.offsets_rows import Origin
from sluice.upkeep import Upkeep
from sluice.work import Work

log = logging.getLogger(__name__)

__all__ = ["Lake", "Parts", "Pipeline", "Settlement", "Work", "find_pipeline", "open_pipeline"]


@dataclass(frozen=True)
class Pipeline:
    """One pipeline with its verbs."""

    parts: Parts

    def plan(self, run_id: str, actor: str) -> Work:
        """Decide and write down what the run works on; falsy when there is nothing new."""
        return plan(self.parts, _origin(run_id, actor))

    def backfill(self, asked: Asked, run_id: str, actor: str) -> Written:
        """Write down which offsets below the cursor are read again, as far as Kafka has them."""
        return plan_backfill(self.parts, asked, _origin(run_id, actor))

    def outlook(self, asked: Asked | None = None) -> Outlook:
        """What a run would do: of reading what is new, or of reading again. Writes nothing."""
        return look_again(self.parts, asked) if asked else look(self.parts)

    def outstanding(self, work: Work) -> Work:
        """Those of the batches that are not committed yet. Takes milliseconds, no JVM.

        Of a generation that a reset has closed there is nothing left: what is to be read forward
        is planned anew. Raises BackfillClosed for what was to be read again, and was not.
        """
        committed = self.parts.committed(work.sequence)
        left = replace(work, batches=tuple(n for n in work.batches if n > committed))
        if not left or not self.parts.data.closed(work.sequence):
            return left
        if work.sequence.lane == "backfill":
            raise BackfillClosed(
                f"{left}: a reset has closed them, and they were not read again. If they still are"
                " to be, ask again: clear the whole run, or give the command once more."
            )
        log.info("%s: superseded by a reset, which closed its generation", left)
        return replace(work, batches=())

    def ingest(self, work: Work, lake: Lake) -> None:
        """Land the batches that are not committed yet."""
        ingest(self.parts, work, lake)

    def preview_reset(self, target: Target) -> Preview:
        """What a reset would do; nothing is written."""
        return preview_reset(self.parts, target)

    def reset(
        self,
        target: Target,
        reason: str,
        run_id: str,
        actor: str,
        as_previewed: str | None = None,
    ) -> Reset:
        """Close the generation and open the next one where the target says."""
        return reset(self.parts, target, reason, _origin(run_id, actor), as_previewed)

    def preview_skip(self, positions: Positions, reason: str, actor: str) -> Skip:
        """How single offsets would be passed over; nothing is written."""
        return preview_skip(self.parts, positions, reason, actor)

    def skip(
        self,
        positions: Positions,
        reason: str,
        run_id: str,
        actor: str,
        as_previewed: str | None = None,
    ) -> Skip:
        """Pass over single offsets: a loss record of each, and a plan around them."""
        return skip(self.parts, positions, reason, _origin(run_id, actor), as_previewed)

    def accept_gaps(
        self, gaps: Sequence[OffsetRange], reason: str, run_id: str, actor: str
    ) -> Settlement:
        """Record offsets that nothing explains as lost, and write the receipts they held back."""
        written = accept_gaps(self.parts, gaps, reason, _origin(run_id, actor))
        return Settlement(tuple(written))

    def preview_drop(self, choice: Choice) -> Drop:
        """What dropping quarantined records would do; nothing is written."""
        return preview_drop(self.parts, choice)

    def drop(
        self, choice: Choice, reason: str, run_id: str, actor: str, open_upkeep: OpenUpkeep
    ) -> Drop:
        """Record quarantined records as lost, and take them out of the table."""
        return drop(self.parts, choice, reason, _origin(run_id, actor), open_upkeep)

    def maintain(self, upkeep: Upkeep, run_id: str, actor: str) -> Maintained:
        """Take dead weight out of the tables; no row that counts is touched."""
        return maintain(self.parts, upkeep, _origin(run_id, actor))

    def settle(self, run_id: str, actor: str, work: Work | None = None) -> Settlement:
        """Write all receipts that are due and mirror the cursor; tell those of the work, too."""
        return settle(self.parts, _origin(run_id, actor), work)


def open_pipeline(
    spec: PipelineSpec, settings: Settings, kafka_extra: Mapping[str, Any]
) -> Pipeline:
    """The pipeline of a spec and its Kafka connection's `extra`; nothing is contacted yet."""
    client = KafkaClient.from_extra(spec.kafka, kafka_extra)
    return Pipeline(Parts.of(spec, settings.tables, client))


def find_pipeline(name: str, environment: Mapping[str, str]) -> Pipeline:
    """The pipeline of that name, by what an environment says of specs, tables and connections.

    Raises SpecError or SettingsError; nothing is contacted yet.
    """
    settings = Settings.from_environment(environment)
    spec = find_spec(settings.pipelines, name)
    return open_pipeline(spec, settings, connection_extra(spec.kafka, environment))


def _origin(run_id: str, actor: str) -> Origin:
    return Origin(run_id, actor, datetime.now(UTC))
