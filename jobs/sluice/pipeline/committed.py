"""Committed: the batches that count, of every generation and lane, in the order they landed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sluice.pipeline.parts import Parts
from sluice.pipeline.stored import Place
from sluice.planning.batches import Batch, BatchSequence, PlannedRange, parse_batch
from sluice.planning.findings import Loss
from sluice.planning.ranges import TopicPartition
from sluice.planning.resets import LANES, Resets
from sluice.proof.accounting import Counted, Receipt
from sluice.proof.evidence import Dropped, Read
from sluice.tables.offsets_rows import read_losses
from sluice.tables.offsets_table import OffsetsSnapshot


@dataclass(frozen=True)
class Reach:
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
    counted: tuple[Counted, ...]


@dataclass(frozen=True)
class Committed:
    """What is committed of a pipeline, with the resets and the losses that count."""

    batches: tuple[CommittedBatch, ...]
    resets: Resets
    losses: tuple[Loss, ...]


def reaches(parts: Parts, newest: int) -> list[Reach]:
    """How far each sequence is committed, the generations in order up to the newest."""
    return [
        Reach(sequence, parts.committed(sequence), closed=generation < newest)
        for generation in range(1, newest + 1)
        for lane in LANES
        for sequence in [BatchSequence(parts.spec.pipeline, lane, generation)]
    ]


def read_committed(
    parts: Parts, snapshot: OffsetsSnapshot, newest: int, version: int | None
) -> Committed:
    """Everything that is committed up to a version of the data table, in order of the versions."""
    resets = snapshot.resets(parts.spec.pipeline)
    batches: list[CommittedBatch] = []
    losses: list[Loss] = []
    ends = reaches(parts, newest)
    for reach in ends:
        known = _batches(parts, snapshot, reach, resets)
        found = [each for each in known if version is not None and each.version <= version]
        batches += found
        losses += _losses(snapshot, reach, [each.batch for each in found], ends)
    order = sorted(batches, key=lambda each: (each.version, each.batch.sequence.generation))
    return Committed(tuple(order), resets, tuple(losses))


def reads_of(committed: Committed, place: Place) -> Iterator[Read]:
    """A partition's ranges, with their receipts, in the order they landed in."""

    def mine(planned: PlannedRange) -> bool:
        return (planned.topic_id, planned.offsets.partition.partition) == place

    for landed in committed.batches:
        sequence = landed.batch.sequence
        lines = [line for line in landed.counted if mine(line.planned)]
        for planned in filter(mine, landed.batch.ranges):
            yield Read(
                batch=str(landed.batch),
                forward=sequence.lane == "forward",
                generation=sequence.generation,
                offsets=planned.offsets,
                version=landed.version,
                due=landed.settled,
                receipts=lines,
            )


def drops_of(committed: Committed, place: Place) -> list[Dropped]:
    """What was dropped from quarantine of a partition."""
    return [
        Dropped(loss.dropped_from, loss.offsets)
        for loss in committed.losses
        if loss.dropped_from is not None
        and (loss.topic_id, loss.offsets.partition.partition) == place
    ]


def losses_that_count(parts: Parts, snapshot: OffsetsSnapshot, newest: int) -> list[Loss]:
    """The recorded losses, without those of plans that a reset has undone."""
    found: list[Loss] = []
    ends = reaches(parts, newest)
    for reach in ends:
        # Every forward plan lists every partition: the last one has all the ends.
        first = max(reach.last, 1) if reach.sequence.lane == "forward" else 1
        batches = snapshot.batches(reach.sequence, first, last=reach.last)
        found += _losses(snapshot, reach, batches, ends)
    return found


def newest_receipts(
    parts: Parts, snapshot: OffsetsSnapshot, newest: int, count: int
) -> list[tuple[Receipt, bool]]:
    """The newest receipts of all sequences, the latest last; with whether a reset undid them."""
    found = [
        (receipt, receipt.batch.number > reach.last)
        for reach in reaches(parts, newest)
        for receipt in snapshot.receipts(reach.sequence, count)
    ]
    found.sort(key=lambda each: each[0].data_version)
    return found[-count:]


def _batches(
    parts: Parts, snapshot: OffsetsSnapshot, reach: Reach, resets: Resets
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
    snapshot: OffsetsSnapshot, reach: Reach, committed: Sequence[Batch], ends: Sequence[Reach]
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


def _is_committed(name: str, ends: Sequence[Reach]) -> bool:
    sequence, number = parse_batch(ends[0].sequence.pipeline, name)
    return any(each.sequence == sequence and number <= each.last for each in ends)
