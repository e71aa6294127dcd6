"""Committed: the batches that count, of every generation and lane, in the order they landed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch, BatchSequence, Lane
from sluice.offsets.history import History
from sluice.offsets.losses import Loss
from sluice.offsets.notation import parse_batch
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import PartitionCount, Receipt
from sluice.offsets.resets import LANES, Resets
from sluice.progress.resources import PipelineResources
from sluice.tables.foreign_commits import LandedBatch
from sluice.tables.offsets_rows import read_losses
from sluice.tables.offsets_table import OffsetsSnapshot


def landed_batches(
    parts: PipelineResources,
    snapshot: OffsetsSnapshot,
    newest: BatchSequence,
    committed: Mapping[Lane, int],
) -> list[LandedBatch]:
    """The batches of every lane and generation that count, in the order they landed in.

    A RESTORE reaches behind a reset. `committed` is of the newest generation, by lane.
    """
    resets = snapshot.resets(parts.spec.pipeline)
    found: list[LandedBatch] = []
    for lane in LANES:
        for generation in range(1, newest.generation):
            sequence = replace(newest, lane=lane, generation=generation)
            last, closed = resets.closed_at(sequence), snapshot.history(sequence, resets)
            landed = _landed_of(parts, snapshot, closed, min(last, closed.settled))
            found += [each for each in landed if each.batch.number <= last]
        now = snapshot.history(replace(newest, lane=lane), resets)
        # Whatever was planned and committed since the snapshot landed after what is looked at.
        found += _landed_of(parts, snapshot, now, min(committed[lane], now.planned))
    return sorted(found, key=lambda each: each.version)


def _landed_of(
    parts: PipelineResources, snapshot: OffsetsSnapshot, history: History, committed: int
) -> Iterator[LandedBatch]:
    for receipt in snapshot.receipts(history.sequence, newest=history.settled):
        yield LandedBatch(receipt.batch, receipt.data_version)
    for number in range(history.settled + 1, committed + 1):
        batch = history.batch(number)
        yield LandedBatch(batch, parts.data.landing(batch).version)


@dataclass(frozen=True)
class SequenceEnd:
    """How far a sequence is committed; batches above `last` that landed were undone by a reset."""

    sequence: BatchSequence
    last: int
    closed: bool


@dataclass(frozen=True)
class CommittedBatch:
    """A batch that counts, the version it landed in, and its receipt's lines where it is due."""

    batch: Batch
    version: int
    settled: bool
    counted: tuple[PartitionCount, ...]


@dataclass(frozen=True)
class Committed:
    """What is committed of a pipeline, with the resets and the losses that count."""

    batches: tuple[CommittedBatch, ...]
    resets: Resets
    losses: tuple[Loss, ...]


def sequence_ends(parts: PipelineResources, newest: int) -> list[SequenceEnd]:
    """How far each sequence is committed, the generations in order up to the newest."""
    return [
        SequenceEnd(sequence, parts.committed(sequence), closed=generation < newest)
        for generation in range(1, newest + 1)
        for lane in LANES
        for sequence in [BatchSequence(parts.spec.pipeline, lane, generation)]
    ]


def read_committed(
    parts: PipelineResources, snapshot: OffsetsSnapshot, newest: int, version: int | None
) -> Committed:
    """Everything that is committed up to a version of the data table, in order of the versions."""
    resets = snapshot.resets(parts.spec.pipeline)
    batches: list[CommittedBatch] = []
    losses: list[Loss] = []
    ends = sequence_ends(parts, newest)
    for reach in ends:
        known = _batches(parts, snapshot, reach, resets)
        found = [each for each in known if version is not None and each.version <= version]
        batches += found
        losses += _losses(snapshot, reach, [each.batch for each in found], ends)
    order = sorted(batches, key=lambda each: (each.version, each.batch.sequence.generation))
    return Committed(tuple(order), resets, tuple(losses))


def losses_that_count(
    parts: PipelineResources, snapshot: OffsetsSnapshot, newest: int
) -> list[Loss]:
    """The recorded losses, without those of plans that a reset has undone."""
    found: list[Loss] = []
    ends = sequence_ends(parts, newest)
    for reach in ends:
        # Every forward plan lists every partition: the last one has all the ends.
        first = max(reach.last, 1) if reach.sequence.lane == "forward" else 1
        batches = snapshot.batches(reach.sequence, first, last=reach.last)
        found += _losses(snapshot, reach, batches, ends)
    return found


def newest_receipts(
    parts: PipelineResources, snapshot: OffsetsSnapshot, newest: int, count: int
) -> list[tuple[Receipt, bool]]:
    """The newest receipts of all sequences, the latest last; with whether a reset undid them."""
    found = [
        (receipt, receipt.batch.number > reach.last)
        for reach in sequence_ends(parts, newest)
        for receipt in snapshot.receipts(reach.sequence, count)
    ]
    found.sort(key=lambda each: each[0].data_version)
    return found[-count:]


def _batches(
    parts: PipelineResources, snapshot: OffsetsSnapshot, reach: SequenceEnd, resets: Resets
) -> Iterator[CommittedBatch]:
    if reach.last == 0:
        return
    settled = snapshot.history(reach.sequence, resets).settled
    receipts = {each.batch.number: each for each in snapshot.receipts(reach.sequence, settled)}
    for batch in snapshot.batches(reach.sequence, last=reach.last):
        receipt = receipts.get(batch.number)
        version = receipt.data_version if receipt else parts.data.landing(batch).version
        lines = receipt.counted if receipt else ()
        yield CommittedBatch(batch, version, batch.number <= settled, lines)


def _losses(
    snapshot: OffsetsSnapshot,
    reach: SequenceEnd,
    committed: Sequence[Batch],
    ends: Sequence[SequenceEnd],
) -> Iterator[Loss]:
    """A loss has no batch. It counts when a batch that counts begins after it, or contains it.

    What was dropped from quarantine has one, of any sequence, and counts with it.
    """
    reached: dict[tuple[str, TopicPartition], int] = {}
    for planned in (planned for batch in committed for planned in batch.ranges):
        place = (planned.topic_id, planned.offsets.partition)
        reached[place] = max(planned.offsets.end, reached.get(place, 0))
    for loss in read_losses(snapshot.rows(reach.sequence, ["loss"])):
        end = reached.get((loss.topic_id, loss.offsets.partition), 0)
        if loss.dropped_from is not None:
            counts = _is_committed(loss.dropped_from, ends)
        else:
            counts = not reach.closed or loss.offsets.start < end
        if counts:
            yield loss


def _is_committed(name: str, ends: Sequence[SequenceEnd]) -> bool:
    sequence, number = parse_batch(ends[0].sequence.pipeline, name)
    return any(each.sequence == sequence and number <= each.last for each in ends)
