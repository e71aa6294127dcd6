"""Kept skips: an offset is skipped until a reset goes back below it, not until the next one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sluice.offsets.batches import BatchSequence, Cursor
from sluice.offsets.losses import Skipped, recorded_skips
from sluice.progress.lane_state import LaneState
from sluice.tables.offsets_rows import read_losses
from sluice.tables.offsets_snapshot import OffsetsSnapshot


def kept_skips(lane: LaneState) -> list[Skipped]:
    """Those that the first plan of a generation goes around, as the reset before it stayed."""
    if lane.history.planned or lane.history.opening is None or not lane.history.opening.stays:
        return []
    return skips_ahead(lane, lane.cursor)


def skips_ahead(lane: LaneState, cursor: Cursor) -> list[Skipped]:
    """The skips above a cursor, of the generation and those that ended where it continues."""
    sequence = lane.sequence
    found = skips_of(lane.snapshot, sequence)
    while (opening := lane.resets.by_generation.get(sequence.generation)) and opening.stays:
        sequence = replace(sequence, generation=sequence.generation - 1)
        found += skips_of(lane.snapshot, sequence)
    return still_ahead(found, cursor)


def skips_of(snapshot: OffsetsSnapshot, sequence: BatchSequence) -> list[Skipped]:
    """The skips that are recorded in one generation."""
    return recorded_skips(read_losses(snapshot.rows(sequence, ["loss"])))


def still_ahead(skips: Iterable[Skipped], cursor: Cursor) -> list[Skipped]:
    """The skips that no committed batch has passed yet."""
    return [
        each
        for each in skips
        if (last := cursor.get(each.offsets.partition)) is not None
        and each.topic_id == last.topic_id
        and each.offsets.start >= last.offsets.end
    ]
