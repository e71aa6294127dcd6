"""Left behind: rows that others took away, of a topic that a reset leaves for another one.

While the topic is there, they are read again; once a reset goes on with another one of the name,
nothing leads back to them, and a loss says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sluice.offsets.batches import Cursor
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.range_columns import OffsetScope, RangeColumns
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, without
from sluice.offsets.resets import Reset, sequences_up_to
from sluice.positions.position import cursor_at
from sluice.progress.committed import committed_ranges
from sluice.progress.lacking_rows import lacking_but_for, to_be_read
from sluice.progress.lane_state import LaneState


def left_behind(state: LaneState, closing: Reset, origin: Origin) -> list[Loss]:
    """The losses of a reset whose fence stands: what was committed once, and is in no batch now.

    For every topic id that it leaves, or that was left before, unless that is recorded.
    """
    known = state.with_resets((*closing.earlier, closing))
    unread = dict(_left(known, closing))
    if not unread:
        return []
    sequences = sequences_up_to(known.pipeline, known.generation)
    settled = {each: (1, state.snapshot.settled(each)) for each in sequences}
    once = state.snapshot.columns.ranges("committed", settled)
    followed = {(each.topic_id, at) for at, each in closing.by_partition.items()}
    left = {place: at for place, at in once.places if (place.topic_id, at) not in followed}
    left |= {place: each.partition for place, each in unread.items()}
    read = committed_ranges(known, OffsetScope.whole(left))
    cause = LossCause(LossKind.GONE, origin.actor, closing.reason)
    found = []
    for place, at in left.items():
        ever = [*_ranges(once.at(place)), *([unread[place]] if place in unread else [])]
        told = [each.offsets for each in read.at(place)] + list(_told(known, place, at))
        found += [Loss(each, place.topic_id, cause) for each in without(ever, told)]
    return [*found, *_aside_with(known.closed_by(closing), left, origin, closing.reason)]


def _aside_with(
    opened: LaneState, left: Collection[TopicIdPartition], origin: Origin, reason: str
) -> Iterator[Loss]:
    """The lacking rows of the quarantine that were to be read again from these partitions."""
    cause = LossCause(LossKind.ASIDE_GONE, origin.actor, reason)
    # What keeps the place of a topic that is gone is not read from there again either.
    planned = [each for each in to_be_read(opened) if each.place not in left]
    for each in lacking_but_for(opened, planned):
        if each.place in left:
            yield from each.losses(cause, each.among)


def _left(state: LaneState, closing: Reset) -> Iterator[tuple[TopicIdPartition, OffsetRange]]:
    """For each partition whose topic id changes, what its resets know was committed and is not.

    Where the topic created anew has fewer partitions, the others keep the place of the old one.
    """
    opening = state.resets.by_generation.get(closing.generation - 1)
    cursor, after = _cursor(state, closing), closing.by_partition
    stays = {
        at for at, last in cursor.items() if at in after and after[at].topic_id == last.topic_id
    }
    anew = {at.topic for at in cursor.keys() - stays}
    for at, last in cursor.items():
        if at in stays and at.topic not in anew:
            continue
        end = last.offsets.end
        reached = max(end, _before(closing, at), _before_opening(opening, at, last.topic_id))
        yield last.place, OffsetRange(at, end, reached)


def _ranges(columns: RangeColumns) -> Iterator[OffsetRange]:
    return map(columns.range, range(len(columns)))


def _told(state: LaneState, place: TopicIdPartition, at: TopicPartition) -> Iterator[OffsetRange]:
    """What losses and resets have recorded before."""
    for losses in state.snapshot.losses().values():
        yield from (
            e.offsets for e in losses if (e.topic_id, e.offsets.partition) == (place[0], at)
        )
    for reset in state.resets.by_generation.values():
        for moved in reset.cursor:
            if moved.partition == at and moved.after.topic_id == place.topic_id and moved.skipped:
                yield moved.passed_over


def _cursor(state: LaneState, closing: Reset) -> Cursor:
    """Where the generation ended that the reset has closed, by the rows that are there."""
    forward, last = closing.closes[0], closing.closed_at["forward"]
    opening = state.resets.by_generation.get(forward.generation)
    if not last and opening:
        return opening.by_partition
    batches = state.snapshot.batches(forward, last or 1, last=last or 1)
    return {
        at: cursor_at(each, each.offsets.end if last else each.offsets.start)
        for batch in batches
        for at, each in batch.by_partition.items()
    }


def _before(reset: Reset, at: TopicPartition) -> int:
    return next((each.before or 0 for each in reset.cursor if each.partition == at), 0)


def _before_opening(opening: Reset | None, at: TopicPartition, topic_id: str) -> int:
    if opening is None or at not in opening.by_partition:
        return 0
    return _before(opening, at) if opening.by_partition[at].topic_id == topic_id else 0
