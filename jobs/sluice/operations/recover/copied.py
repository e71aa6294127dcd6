"""A copy of the rows in the table's place: how far it reaches, by the receipts of the table before.

It was made of one version, so it holds what had landed by then. This includes batches without rows,
whose records are in quarantine, were read again since, or were deleted by others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from sluice.offsets.batches import BatchSequence
from sluice.offsets.notation import parse_batch
from sluice.offsets.range_columns import NumberedBatch, OffsetScope, RangeColumns
from sluice.offsets.resets import sequences_up_to
from sluice.offsets.row_offsets import Mask
from sluice.progress.held_batches import Ends
from sluice.progress.lane_state import LaneState
from sluice.tables.coordinates import COORDINATES, group_coordinates
from sluice.tables.fence import FENCE
from sluice.tables.stored_rows import StoredRows


def held_by_copy(state: LaneState, names: Ends) -> Ends:
    """The last batch of each sequence that a copy holds; none if it is not a copy.

    `names` are the last batches that its rows name. Nothing shows whether it holds later
    batches without rows. They count, because it lacks no row of them, unless they have read offsets
    again: then they removed rows.
    """
    written = any(map(state.data.committed, sequences_up_to(state.pipeline, state.generation)))
    if written or state.data.version is None:
        return {}
    counted = _counted(state)
    versions = _versions(counted)
    reached = max((versions[each] for each in names.items() if each in versions), default=(0, -1))
    changing = {
        batch for batch, _ in counted.only((counted.records > 0) | _again(counted)).batches()
    }
    held: dict[BatchSequence, int] = {}
    for sequence, number in sorted(versions, key=lambda each: versions[each]):
        if versions[sequence, number] > reached and (sequence, number) in changing:
            break
        held[sequence] = max(number, held.get(sequence, 0))
    return held


def aside_beside_copy(state: LaneState, names: Ends, rows: StoredRows) -> Ends:
    """The last batch of each sequence that only the quarantine shows, with a copy of the rows.

    The offsets table is lost too; batches may have landed in the copy since. A record counts as
    quarantined if it is below the end of its partition's rows, and has no row itself.
    """
    if not state.snapshot.blank or not any(names.values()):
        return {}
    here = _landed_here(state)
    apart = group_coordinates(state.quarantine.rows(COORDINATES.names))
    ends = {at.of(topic_id): end for (at, topic_id), end in rows.ends.items()}
    scope = OffsetScope.of_offsets({at: offsets for at, (offsets, _) in apart.places.items()})
    landed = state.data.coordinates_in(scope)
    held: dict[BatchSequence, int] = {}
    for at, (offsets, batches) in apart.places.items():
        counts = (offsets < ends.get(at, 0)) & ~np.isin(offsets, landed.offsets(at))
        for name in {apart.names[each] for each in batches[counts]}:
            with suppress(ValueError):
                sequence, number = parse_batch(state.pipeline, name)
                if not here(sequence):
                    held[sequence] = max(number, held.get(sequence, 0))
    return held


def _landed_here(state: LaneState) -> Callable[[BatchSequence], bool]:
    """Whether batches of a sequence landed in this table, or may have: its log has lost some."""
    named = {parse_batch(state.pipeline, each.name)[0] for each in state.data.log.logged_batches()}
    elsewhere = {0} if state.data.log.last_lost >= 0 else {0, FENCE}
    return lambda each: each in named or state.data.committed(each) not in elsewhere


def _counted(state: LaneState) -> RangeColumns:
    """The ranges of receipts that count."""
    sequences = sequences_up_to(state.pipeline, state.generation)
    last = {each: _last(state, each) for each in sequences}
    return state.snapshot.columns.ranges("committed", {e: (1, n) for e, n in last.items() if n})


def _again(counted: RangeColumns) -> Mask:
    """Which ranges begin below where an earlier one of their partition ended."""
    generations = np.array([each.generation for each in counted.sequences] or [0])
    order = np.lexsort((counted.version, generations[counted.sequence]))
    found = np.zeros(len(counted), dtype=bool)
    for place in range(len(counted.places)):
        mine = order[counted.place[order] == place]
        before = np.maximum.accumulate(np.concatenate([[0], counted.end[mine]]))[:-1]
        found[mine] = counted.start[mine] < before
    return found


def _versions(counted: RangeColumns) -> Mapping[NumberedBatch, tuple[int, int]]:
    """The generation and the version that each batch landed in."""
    return {
        batch: (batch[0].generation, int(counted.version[at])) for batch, at in counted.batches()
    }


def _last(state: LaneState, sequence: BatchSequence) -> int:
    closing = state.resets.by_generation.get(sequence.generation + 1)
    settled = state.snapshot.settled(sequence)
    return min(settled, closing.closed_at[sequence.lane]) if closing and closing.done else settled
