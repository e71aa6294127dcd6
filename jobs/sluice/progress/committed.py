"""Committed batches: those that count, of all generations and lanes, in the order they landed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.losses import Loss
from sluice.offsets.notation import parse_batch
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import PartitionCount, Receipt
from sluice.offsets.resets import LANES, Resets
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd
from sluice.tables.foreign_commits import LandedBatch
from sluice.tables.offsets_rows import read_losses


@dataclass(frozen=True)
class CommittedBatch(LandedBatch):
    """A batch that counts, and the lines of its receipt if it has one."""

    settled: bool
    counted: tuple[PartitionCount, ...]


@dataclass(frozen=True)
class Committed:
    """A pipeline's committed batches, its resets, and the losses that count."""

    batches: tuple[CommittedBatch, ...]
    resets: Resets
    losses: tuple[Loss, ...]
    ends: tuple[SequenceEnd, ...]

    def unlisted(self, names: Iterable[str]) -> set[str]:
        """The batches that count, and of which no plan is left: a recovery found only rows."""
        listed = {str(each.batch) for each in self.batches}
        return {each for each in {*names} - listed if _is_committed(each, self.ends)}


def sequence_ends(state: LaneState) -> list[SequenceEnd]:
    """How far each sequence is committed, the generations in order up to the newest."""
    return [
        SequenceEnd(sequence, state.committed_of(sequence), closed=generation < state.generation)
        for generation in range(1, state.generation + 1)
        for lane in LANES
        for sequence in [BatchSequence(state.pipeline, lane, generation)]
    ]


def landed_batches(
    state: LaneState, ends: Sequence[SequenceEnd] | None = None
) -> list[CommittedBatch]:
    """The batches of every lane and generation that count, in the order they landed.

    Every generation: a RESTORE can go back to before a reset. A generation ends before the next
    one begins, but a table that was put back counts its versions anew.
    """
    ends = sequence_ends(state) if ends is None else ends
    found = [batch for end in ends for batch in _batches(state, end)]
    return sorted(found, key=lambda each: (each.batch.sequence.generation, each.version))


def read_committed(state: LaneState) -> Committed:
    """Everything committed at the state's version of the data table."""
    batches, ends = landed_batches(state), sequence_ends(state)
    losses = [
        loss
        for end in ends
        for loss in _losses(
            state,
            end,
            [each.batch for each in batches if each.batch.sequence == end.sequence],
            ends,
        )
    ]
    return Committed(tuple(batches), state.resets, tuple(losses), tuple(ends))


def losses_that_count(state: LaneState) -> list[Loss]:
    """The recorded losses, without those of plans that a reset undid."""
    found: list[Loss] = []
    ends = sequence_ends(state)
    for end in ends:
        # Every forward batch lists every partition, so the last one has all the ends.
        first = max(end.last, 1) if end.sequence.lane == "forward" else 1
        batches = state.snapshot.batches(end.sequence, first, last=end.last)
        found += _losses(state, end, batches, ends)
    return found


def newest_receipts(state: LaneState, count: int) -> list[tuple[Receipt, bool]]:
    """The newest receipts of all sequences, newest last, each with whether a reset undid it."""
    found = [
        (receipt, receipt.batch.number > end.last)
        for end in sequence_ends(state)
        for receipt in state.snapshot.receipts(end.sequence, count)
    ]
    found.sort(key=lambda each: (each[0].batch.sequence.generation, each[0].data_version))
    return found[-count:]


def _batches(state: LaneState, end: SequenceEnd) -> Iterator[CommittedBatch]:
    if end.last == 0:
        return
    settled = state.snapshot.history(end.sequence, state.resets).settled
    receipts = {each.batch.number: each for each in state.snapshot.receipts(end.sequence, settled)}
    for batch in state.snapshot.batches(end.sequence, last=end.last):
        receipt = receipts.get(batch.number)
        version = receipt.data_version if receipt else state.data.landed_in(batch)
        lines = receipt.counted if receipt else ()
        yield CommittedBatch(batch, version, batch.number <= settled, lines)


def _losses(
    state: LaneState, end: SequenceEnd, committed: Sequence[Batch], ends: Sequence[SequenceEnd]
) -> Iterator[Loss]:
    """A loss has no batch. It counts when a batch that counts begins after it or contains it.

    A record dropped from quarantine has a batch, of any sequence, and counts if that batch does.
    """
    reached: dict[tuple[str, TopicPartition], int] = {}
    for planned in (planned for batch in committed for planned in batch.ranges):
        place = (planned.topic_id, planned.offsets.partition)
        reached[place] = max(planned.offsets.end, reached.get(place, 0))
    for loss in read_losses(state.snapshot.rows(end.sequence, ["loss"])):
        read_up_to = reached.get((loss.topic_id, loss.offsets.partition), 0)
        if loss.dropped_from is not None:
            counts = _is_committed(loss.dropped_from, ends)
        else:
            counts = not end.closed or loss.offsets.start < read_up_to
        if counts:
            yield loss


def _is_committed(name: str, ends: Sequence[SequenceEnd]) -> bool:
    try:
        sequence, number = parse_batch(ends[0].sequence.pipeline, name)
    except ValueError:
        return False
    return any(each.sequence == sequence and number <= each.last for each in ends)
