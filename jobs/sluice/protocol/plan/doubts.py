"""Doubts about committed batches, found wherever one of them would be passed over in silence."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from sluice.broker.port import NamedTopics
from sluice.offsets.batches import Batch
from sluice.offsets.doubts import Doubt, doubt_about, doubt_marked
from sluice.offsets.partition_log import KafkaState
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.plan.log_identity import with_former_topics
from sluice.tables.offsets_appends import append_doubt

log = logging.getLogger(__name__)


def find_doubt(
    resources: PipelineResources, batch: Batch, told: KafkaState | None = None
) -> Doubt | None:
    """What is recorded about a committed batch, else what Kafka says now; nothing is written.

    What Kafka has `told` of the spec's topics is not asked again.
    """
    if not batch.span:
        return None
    return resources.offsets.snapshot().doubt_about(batch) or evident_doubt(resources, batch, told)


def evident_doubt(
    resources: PipelineResources, batch: Batch, told: KafkaState | None = None
) -> Doubt | None:
    """What the data table says about a batch, else what Kafka does: without the offsets table."""
    if marked := doubt_marked(batch, resources.data.snapshot().log.doubtful(batch)):
        return marked
    read = sorted({each.offsets.partition.topic for each in batch.ranges if each.offsets.span})
    if told is None:
        return doubt_about(batch, resources.kafka.state(NamedTopics(read)))
    return doubt_about(batch, with_former_topics(resources, told, read))


def require_no_doubt(
    resources: PipelineResources,
    batch: Batch,
    told: KafkaState | None = None,
    *,
    record: bool = True,
) -> None:
    """Raises BatchInDoubt; with `record`, once the next caller will find the doubt again."""
    doubt = find_doubt(resources, batch, told)
    if doubt is None:
        return
    if record and doubt.lasting:
        _record(resources, doubt)
    raise doubt.refusal(resources.data.snapshot().log.landed_in(batch))


def require_due_decided(
    resources: PipelineResources,
    lane: LaneState,
    told: KafkaState | None = None,
    *,
    record: bool = True,
) -> None:
    """As `require_no_doubt`, for each batch of a lane that waits for its receipt.

    It is raised before any message about the next plan: no command named there decides about them.
    """
    for batch in lane.due:
        require_no_doubt(resources, batch, told, record=record)


def _record(resources: PipelineResources, doubt: Doubt) -> None:
    def write() -> None:
        batch, snapshot = doubt.batch, resources.offsets.snapshot()
        if snapshot.doubt_about(batch) is not None:
            return
        # In the name of the run that planned it: not every step knows who asks.
        planned = snapshot.planned_by(batch.sequence, batch.number, batch.number).get(batch.number)
        if planned is None:
            return  # The table was lost meanwhile: a recovery asks the data table.
        append_doubt(snapshot, doubt, replace(planned, at=resources.clock.now()))
        log.warning("%s: in doubt: %s", batch, "; ".join(map(str, doubt.ranges)))

    _until_it_lands(resources, doubt, write)
    mark(resources, doubt)


def mark(resources: PipelineResources, doubt: Doubt) -> None:
    """Have the data table say so as well: the offsets table may be lost."""

    def write() -> None:
        data, batch = resources.data.snapshot(), doubt.batch
        if lacking := {*doubt.topic_ids} - {*data.log.doubtful(batch)}:
            data.log.mark_doubtful(batch, lacking, resources.clock.now())

    if doubt.lasting:
        _until_it_lands(resources, doubt, write)


def _until_it_lands(resources: PipelineResources, doubt: Doubt, write: Callable[[], None]) -> None:
    crossed = f"{doubt.batch}: in doubt, and {{times}} another process wrote first. Run again."
    until_it_lands(resources, write, crossed)
