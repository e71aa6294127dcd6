"""Sameness: whether a log still is the one that a batch was read from. Pure; the texts are here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sluice.broker.kafka_state import KafkaState
from sluice.errors import ResetNeeded, joined
from sluice.planning.batches import Batch
from sluice.planning.findings import Contradiction
from sluice.planning.ranges import TopicPartition

Fingerprints = Mapping[TopicPartition, str | None]


def ends_held(batch: Batch, state: KafkaState) -> Mapping[TopicPartition, int]:
    """The ends of a batch's ranges, where the log still holds the record before them."""
    return {
        each.offsets.partition: each.offsets.end
        for each in batch.ranges
        if (log := state.logs.get(each.offsets.partition)) is not None
        and log.topic_id == each.topic_id
        and log.log_start_offset < each.offsets.end <= log.end_offset
    }


def compare_fingerprints(
    ends: Mapping[TopicPartition, int], expected: Fingerprints, found: Fingerprints
) -> Iterator[Contradiction]:
    """Where the record batch before a range's end is another one now. Unknown contradicts nothing.

    What the offsets and the leader epoch cannot tell: a log that moved back and grew again.
    """
    for partition, end in sorted(ends.items()):
        before, now = expected.get(partition), found.get(partition)
        if before is not None and now is not None and before != now:
            yield Contradiction(
                partition,
                f"record batch {before} before offset {end}",
                f"{now}: the log was replaced by another copy that has grown over what was read",
            )


def require_same_topics(batch: Batch, state: KafkaState) -> None:
    """Raises ResetNeeded when a topic was created anew since the batch was planned.

    Asked after reading: Spark reads by name, and a new topic may have answered. A topic that is
    gone has answered nothing.
    """
    contradictions = [
        Contradiction(each.offsets.partition, f"topic id {each.topic_id}", log.topic_id)
        for each in batch.ranges
        if each.offsets.span
        and (log := state.logs.get(each.offsets.partition)) is not None
        and log.topic_id != each.topic_id
    ]
    if contradictions:
        raise ResetNeeded(
            joined(
                [
                    *map(str, contradictions),
                    f"{batch}: committed, but the topic was deleted and created anew before its"
                    " receipt: the batch may hold records of the new topic under the old topic's"
                    " id, so it gets no receipt. Look at its rows (`_batch`). RESTORE the data"
                    " table to the version before it; then `sluice reset"
                    f" {batch.sequence.pipeline} --to-earliest --topic"
                    f" {contradictions[0].partition.topic}` goes on with the new topic.",
                ]
            )
        )
