"""Holes: offsets between two batches that none has read, where nothing says why any more. Pure.

A plan leaves offsets out only as it records them as lost or skipped. Where those rows are gone, the
ranges of its neighbours still show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.offsets.batches import Batch, BatchSequence, Cursor
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange, TopicPartition, without
from sluice.operations.recover.found_history import FoundHistory
from sluice.positions.position import cursor_at

_GUESSED = (
    "; just as many are gone, but perhaps others: the batch left records out as well, and the"
    " commit that named them is gone"
)


@dataclass(frozen=True)
class Hole:
    """A loss to record, and the sequence of the batches around it, or of the batch it is of.

    `by_count`: the batch also left records out there, and no commit tells any more which.
    """

    sequence: BatchSequence
    cluster_id: str
    loss: Loss
    by_count: bool = False

    @property
    def held(self) -> bool:
        """Whether Kafka holds it: it was skipped."""
        return self.loss.cause.kind is LossKind.SKIPPED

    def __str__(self) -> str:
        if self.loss.cause.kind is LossKind.WITH_TABLE:
            return f"{self.loss.offsets}: {self.loss.cause}: lost"
        batch = self.loss.dropped_from
        said = f"rows of {batch} are not there" if batch else "read by no batch"
        return f"{self.loss.offsets}: {said} ({self.loss.cause}){_GUESSED * self.by_count}"


def skipped_before(actor: str, reason: str) -> LossCause:
    """The cause of offsets that Kafka holds, and that were passed over before a recovery."""
    return LossCause(LossKind.SKIPPED, actor, f"before a recovery: {reason}")


def find_holes(found: FoundHistory, kafka: KafkaState, decided: tuple[str, str]) -> Iterator[Hole]:
    """What no batch has read between those that count, unless it is recorded."""
    recorded = [
        each
        for losses in found.state.snapshot.losses().values()
        for each in losses
        if each.dropped_from is None
    ]
    for sequence, batches in found.batches.items():
        if sequence.lane == "forward":
            forward = [each.batch for each in batches]
            for offsets, topic_id in _between(_cursor_before(found, forward[0]), forward):
                mine = _of(recorded, topic_id)
                for left in without([offsets], mine):
                    yield from _holes(sequence, left, topic_id, kafka, decided)


def _of(losses: Iterable[Loss], topic_id: str) -> list[OffsetRange]:
    return [each.offsets for each in losses if each.topic_id == topic_id]


def _cursor_before(found: FoundHistory, batch: Batch) -> Cursor:
    """Where the batch had to begin, as far as that is recorded."""
    before = batch.number - 1
    if before:
        planned = found.state.snapshot.batches(batch.sequence, before, last=before)
        return {
            at: cursor_at(range_, range_.offsets.end)
            for each in planned
            for at, range_ in each.by_partition.items()
        }
    opening = found.state.resets.by_generation.get(batch.sequence.generation)
    return opening.by_partition if opening and opening.done else {}


def _between(cursor: Cursor, batches: Sequence[Batch]) -> Iterator[tuple[OffsetRange, str]]:
    """The offsets between the end of one batch and the start of the next, with their topic id."""
    ends: dict[tuple[TopicPartition, str], int] = {
        (at, each.topic_id): each.offsets.end for at, each in cursor.items()
    }
    for batch in batches:
        for each in batch.ranges:
            at = each.offsets.partition
            end = ends.get((at, each.topic_id), each.offsets.start)
            if end < each.offsets.start:
                yield OffsetRange(at, end, each.offsets.start), each.topic_id
            ends[at, each.topic_id] = each.offsets.end


def _holes(
    sequence: BatchSequence,
    offsets: OffsetRange,
    topic_id: str,
    kafka: KafkaState,
    decided: tuple[str, str],
) -> Iterator[Hole]:
    """The hole as losses: what Kafka no longer holds, and what it holds, which is skipped again."""
    log = kafka.logs.get(offsets.partition)
    held = log.log_start_offset if log and log.topic_id == topic_id else offsets.end
    gone = offsets.first(max(0, held - offsets.start))
    causes: Mapping[LossCause, OffsetRange] = {
        LossCause(LossKind.BEFORE_RECOVERY): gone,
        skipped_before(*decided): offsets.after(gone),
    }
    for cause, part in causes.items():
        if part.span:
            yield Hole(sequence, kafka.cluster_id, Loss(part, topic_id, cause))
