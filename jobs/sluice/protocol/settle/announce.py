"""Announce: what the offsets table holds for an announcement, and how far the last ones went."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.offsets.batches import BatchReference
from sluice.offsets.resets import both_lanes
from sluice.progress.complete_until import complete_until
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.announcements import (
    MOST_BATCHES,
    Announced,
    Announcement,
    announced_so_far,
    announcement_of,
    due,
    sequences_since,
)


def read_announced(
    resources: PipelineResources, told: Iterable[object], work: BatchReference | None
) -> Announced:
    """How far the announcements go, before the run settles its work.

    `told` is what `announced` says in earlier announcements, in any order.
    """
    return announced_so_far(told, _settled(read_unchecked(resources)), work)


def announce(resources: PipelineResources, before: Announced) -> Announcement:
    """The announcement of every batch that was settled since; its receipts are read back."""
    state = read_unchecked(resources)
    settled = {
        # Batches that a reset has undone are not announced.
        each: min(state.snapshot.settled(each), state.committed_of(each))
        for each in sequences_since(before, state.sequence)
    }
    batches = due(before, settled)
    named = batches[-MOST_BATCHES:]
    # One by one: a batch may have thousands of partitions.
    receipts = (
        receipt
        for sequence, number in named
        for receipt in state.snapshot.receipts_of(sequence, number, number)
    )
    unnamed, until = len(batches) - len(named), complete_until(resources, state)
    return announcement_of(receipts, _settled(state), unnamed, until)


def _settled(state: LaneState) -> Announced:
    lanes = both_lanes(state.sequence)
    forward, backfill = map(state.snapshot.settled, lanes)
    return Announced(state.data.table_id, state.generation, forward, backfill)
