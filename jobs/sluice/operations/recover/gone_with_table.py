"""Gone with the data table: what it held and Kafka holds no more, where a pipeline begins anew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sluice.errors import OffsetsDamaged
from sluice.offsets.batches import BatchSequence
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.resets import sequences_up_to
from sluice.operations.recover.holes import Hole
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_identity import with_former_topics
from sluice.tables.offsets_snapshot import OffsetsSnapshot


def gone_with_table(resources: PipelineResources, kafka: KafkaState) -> Iterator[Hole]:
    """What has a receipt, as far as the offsets table can be read, from the log start down.

    Also of topics that the spec no longer names: when it does again, they begin anew as well.
    """
    pipeline = resources.spec.pipeline
    forward = BatchSequence(pipeline, "forward", 1)
    try:
        receipted = list(_receipted(resources.offsets.snapshot(), pipeline))
        topics = {offsets.partition.topic for offsets, _ in receipted}
        kafka = with_former_topics(resources, kafka, topics)
        for offsets, topic_id in receipted:
            log = kafka.logs.get(offsets.partition)
            held = log.log_start_offset if log and log.topic_id == topic_id else offsets.end
            if gone := max(0, held - offsets.start):
                cause = LossCause(LossKind.WITH_TABLE)
                yield Hole(forward, kafka.cluster_id, Loss(offsets.first(gone), topic_id, cause))
    except OffsetsDamaged:
        return


def _receipted(snapshot: OffsetsSnapshot, pipeline: str) -> Iterator[tuple[OffsetRange, str]]:
    """From where to where each partition of a topic id was read.

    By the plans: a RESTORE of the table takes receipts away, but not how many there are. A batch in
    doubt has none, and counts where a reset has closed its generation behind it.
    """
    resets = snapshot.resets()
    newest = max(resets.by_generation, default=1)
    sequences = sequences_up_to(pipeline, newest, ["forward"])
    last = {each: snapshot.settled(each) for each in sequences}
    closed = [each for each in sequences if each.generation + 1 in resets.by_generation]
    last |= {each: max(last[each], resets.closed_at(each)) for each in closed}
    found = snapshot.columns.ranges("planned", {e: (1, n) for e, n in last.items() if n})
    for code, (place, partition) in enumerate(found.places):
        mine = found.place == code
        start, end = int(np.min(found.start[mine])), int(np.max(found.end[mine]))
        yield OffsetRange(partition, start, end), place.topic_id
