"""Committed batches: those that count, of all generations and lanes, read only where needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from sluice.offsets.batches import BatchSequence
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.notation import parse_batch
from sluice.offsets.range_columns import NumberedBatch, OffsetScope, RangeColumns
from sluice.offsets.ranges import TopicIdPartition
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES, sequences_up_to
from sluice.progress.committed_ranges import CommittedRanges
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd


def sequence_ends(state: LaneState) -> list[SequenceEnd]:
    """How far each sequence is committed, the generations in order up to the newest."""
    return [
        SequenceEnd(each, state.committed_of(each), closed=each.generation < state.generation)
        for each in sequences_up_to(state.pipeline, state.generation)
    ]


def committed_ranges(
    state: LaneState,
    scope: OffsetScope | None,
    first: Mapping[BatchSequence, int] | None = None,
    *,
    by_plan: bool = False,
) -> CommittedRanges:
    """The committed ranges that a scope touches, of all generations.

    From receipts, which repeat the plan, and from the plans of batches without one; `by_plan` reads
    all plans, to compare them with the receipts.
    """
    last = {each.sequence: each.last for each in sequence_ends(state) if each.last}
    settled = {each: state.snapshot.settled(each) for each in last}
    everything = {each: (1, number) for each, number in last.items()}
    waiting = {each: (settled[each] + 1, last[each]) for each in last if settled[each] < last[each]}
    planned = state.snapshot.columns.ranges("planned", everything if by_plan else waiting, scope)
    counted = state.snapshot.columns.ranges("committed", everything, scope)
    versions = _versions(state, planned, counted)
    elsewhere = set(_elsewhere(state, settled))
    return CommittedRanges(planned, counted, settled, versions, first or {}, by_plan, elsewhere)


def _elsewhere(state: LaneState, settled: Mapping[BatchSequence, int]) -> Iterator[BatchSequence]:
    """The sequences whose receipts name another table: a copy has taken its place since."""
    current = state.data.table_id
    first = BatchSequence(state.pipeline, "forward", 1)
    ids = {each.data_table_id for each in state.resets.by_generation.values()}
    if not state.resets.by_generation or ids | _table_of(state, first) <= {None, current}:
        return
    for each in settled:
        if _table_of(state, each) - {None, current}:
            yield each


def _table_of(state: LaneState, sequence: BatchSequence) -> set[str | None]:
    return {each.batch.data_table_id for each in state.snapshot.receipts(sequence, newest=1)}


def committed_since(state: LaneState, moment: datetime) -> Mapping[BatchSequence, int]:
    """The first batch of each sequence that was committed since then, or has no receipt yet.

    A receipt is never older than its batch: what it says is on the safe side.
    """
    return _first_where(state, sequence_ends(state), ("recorded_at", ">=", moment))


def first_batches(
    state: LaneState, ends: Sequence[SequenceEnd], above: int
) -> Mapping[BatchSequence, int]:
    """By sequence, the batch before the first one that may have landed above a version.

    A generation ends before the next one begins, but a table that was put back counts its versions
    anew.
    """
    first = _first_where(state, ends, ("data_version", ">", above)) if above >= 0 else {}
    return {each.sequence: max(1, first.get(each.sequence, 1) - 1) for each in ends}


def unlisted(state: LaneState, names: Iterable[str]) -> set[str]:
    """Those of some batches that count but have no plan any more: recovery found only rows."""
    ends = sequence_ends(state)
    found = {each: parse_batch(state.pipeline, each) for each in names if _is_committed(each, ends)}
    numbers: dict[BatchSequence, tuple[int, int]] = {}
    for sequence, number in found.values():
        first, last = numbers.get(sequence, (number, number))
        numbers[sequence] = min(first, number), max(last, number)
    listed = {batch for batch, _ in state.snapshot.columns.ranges("planned", numbers).batches()}
    return {name for name, batch in found.items() if batch not in listed}


def losses_that_count(state: LaneState) -> list[Loss]:
    """The recorded losses, without those of plans that a reset undid.

    A loss has no batch. It counts if a batch that counts begins after it or contains it; or if it
    was not recorded by a plan of its generation, but by the recovery that opened that. A record
    dropped from quarantine has a batch, of any sequence, and counts if that batch does.
    """
    ends = {each.sequence: each for each in sequence_ends(state)}
    found: list[Loss] = []
    for sequence, losses in state.snapshot.losses().items():
        end = ends.get(sequence)
        if end is not None:
            found += _counting(state, end, losses, list(ends.values()))
    return found


def newest_receipts(state: LaneState, count: int) -> list[tuple[Receipt, bool]]:
    """The newest receipts of all sequences, newest last, each with whether a reset undid it."""
    found: list[tuple[Receipt, bool]] = []
    # All of a generation landed before the fence, and so before any of the next one.
    for end in reversed(sequence_ends(state)):
        if len(found) >= count and end.sequence.lane == LANES[-1]:
            break
        receipts = state.snapshot.receipts(end.sequence, count)
        found += [(each, each.batch.number > end.last) for each in receipts]
    found.sort(key=lambda each: (each[0].batch.sequence.generation, each[0].data_version))
    return found[-count:]


def _versions(
    state: LaneState, planned: RangeColumns, counted: RangeColumns
) -> Mapping[NumberedBatch, int]:
    """The version that each batch landed in, by its receipt, else by the data table's log.

    No earlier than those before it in its sequence: a table that others have copied counts its
    versions anew.
    """
    told = {batch: int(counted.version[at]) for batch, at in counted.batches()}
    for sequence, number in (each for each, _ in planned.batches() if each not in told):
        receipts = state.snapshot.receipts_of(sequence, number, number)
        (batch,) = state.snapshot.batches(sequence, number, last=number)
        told[sequence, number] = (
            receipts[0].data_version if receipts else state.data.log.landed_in(batch)
        )
    latest: dict[BatchSequence, int] = {}
    found: dict[NumberedBatch, int] = {}
    for sequence, number in sorted(told, key=lambda each: each[1]):
        version = max(told[sequence, number], latest.get(sequence, -1))
        found[sequence, number] = latest[sequence] = version
    return found


def _first_where(
    state: LaneState, ends: Sequence[SequenceEnd], newer: tuple[str, str, object]
) -> Mapping[BatchSequence, int]:
    """The first batch of each sequence whose receipt is newer, or is not there yet."""
    found = state.snapshot.columns.ranges(
        "committed", {each.sequence: (1, each.last) for each in ends if each.last}, also=[newer]
    )
    # In a sequence that was closed below its last receipt, none after its end.
    first = {
        each.sequence: min(state.snapshot.settled(each.sequence), each.last) + 1 for each in ends
    }
    for (sequence, number), _ in found.batches():
        first[sequence] = min(first[sequence], number)
    return first


def _counting(
    state: LaneState, end: SequenceEnd, losses: Sequence[Loss], ends: Sequence[SequenceEnd]
) -> Iterator[Loss]:
    reached: Mapping[TopicIdPartition, int] = {}
    if end.closed and any(each.dropped_from is None for each in losses):
        reached = _reached(state, end)
    for loss in losses:
        if loss.dropped_from is not None:
            counts = _is_committed(loss.dropped_from, ends)
        else:
            counts = not end.closed or loss.offsets.start < reached.get(loss.place, 0)
            counts = counts or _told_by_opening(state, end, loss)
        if counts:
            yield loss


def _told_by_opening(state: LaneState, end: SequenceEnd, loss: Loss) -> bool:
    """Whether a loss is below where its generation begins, or of a topic that is gone.

    No reset reads such offsets again.
    """
    opening = state.resets.by_generation.get(end.sequence.generation)
    begins = opening.by_partition.values() if opening else ()
    below = any(e.place == loss.place and loss.offsets.start < e.offsets.start for e in begins)
    return below or loss.cause.kind is LossKind.GONE


def _reached(state: LaneState, end: SequenceEnd) -> Mapping[TopicIdPartition, int]:
    """How far a closed sequence has read each partition."""
    # Every forward batch lists every partition, so the last one has all the ends.
    first = max(end.last, 1) if end.sequence.lane == "forward" else 1
    found = state.snapshot.columns.ranges("planned", {end.sequence: (first, end.last)})
    ends = np.zeros(len(found.places), dtype=np.int64)
    np.maximum.at(ends, found.place, found.end)
    return {place: int(ends[code]) for code, (place, _) in enumerate(found.places)}


def _is_committed(name: str, ends: Sequence[SequenceEnd]) -> bool:
    try:
        sequence, number = parse_batch(ends[0].sequence.pipeline, name)
    except ValueError:
        return False
    return any(each.sequence == sequence and number <= each.last for each in ends)
