"""Passed over: what resets leave out of what was to be read again, and that is lacking since.

A quarantine table lacks none of what is read again; so nobody has missed it before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sluice.offsets.ranges import OffsetRange, TopicIdPartition, within
from sluice.offsets.resets import Reset
from sluice.progress.lacking_rows import LackingRows, lacking_but_for, planned_after
from sluice.progress.lane_state import LaneState


def passed_over(lane: LaneState) -> list[LackingRows]:
    """The lacking rows that resets without a receipt behind them pass over.

    Of a quarantine that others left alone: reads no commit of theirs where nothing is lacking. What
    is committed behind the reset and has no receipt yet is counted with that. A table that replaces
    another may lack more: a recovery that set it anew may have stopped before it planned a rewind.
    """
    passed: dict[TopicIdPartition, list[OffsetRange]] = {}
    for reset in _without_receipt(lane):
        for place, offsets in _passed_by(lane, reset):
            passed.setdefault(place, []).append(offsets)
    anew = lane.quarantine.replaced
    if not anew and not any(each.span for ranges in passed.values() for each in ranges):
        return []
    planned = list(planned_after(lane, lane.snapshot.settled))
    lacking = lacking_but_for(lane, planned, uncommitted={})
    return lacking if anew else [part for each in lacking if (part := _within(each, passed)).rows]


def _without_receipt(lane: LaneState) -> Iterator[Reset]:
    """The newest resets, behind which nothing is settled."""
    for generation in range(lane.generation, 1, -1):
        reset = lane.resets.by_generation[generation]
        opened = (replace(each, generation=generation) for each in reset.closes)
        if any(map(lane.snapshot.settled, opened)):
            return
        yield reset


def _passed_by(lane: LaneState, reset: Reset) -> Iterator[tuple[TopicIdPartition, OffsetRange]]:
    """What a reset skips, and what was planned and is given up with it."""
    for moved in reset.cursor:
        yield moved.after.place, moved.passed_over
    for closed in reset.closes:
        first, last = reset.closed_at[closed.lane] + 1, lane.snapshot.planned(closed)
        for batch in lane.snapshot.batches(closed, first, last=last):
            for planned in batch.ranges:
                yield planned.place, planned.offsets


def _within(
    lacking: LackingRows, passed: Mapping[TopicIdPartition, list[OffsetRange]]
) -> LackingRows:
    among = tuple(within(lacking.among, passed.get(lacking.place, ())))
    return replace(lacking, among=among, rows=min(lacking.rows, sum(each.span for each in among)))
