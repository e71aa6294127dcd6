"""Previews: what a reset would do, and what Kafka and the tables hold of its partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.quarantined import RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.offsets.resets import CursorMove, Reset, closed_unread, undone_backfills
from sluice.operations.reset.decision import decide_reset, require_decided
from sluice.operations.reset.standing import Standing, read_standing
from sluice.operations.reset.targets import Target, ToIntended
from sluice.progress.erased import Erased
from sluice.progress.interrupted import GIVEN_UP, erased_by, onwards, require_none_erased_since
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class AffectedRows:
    """Rows at and above a partition's new cursor, which rereading replaces.

    `log` is None if Kafka no longer has the partition.
    """

    rows: int
    quarantined: int
    log: PartitionLog | None

    @property
    def held(self) -> str | None:
        """The offsets that can be read; None without a log."""
        log = self.log
        return f"[{log.log_start_offset}, {log.last_stable_offset})" if log else None


@dataclass(frozen=True)
class Preview:
    """What a reset would do; `unfinished` are the planned batches that it closes.

    `erased` are rows that others deleted and that rereading would bring back. `undone` are batches
    of the backfill lane whose rows a RESTORE took away: the cursor does not lead back to them.
    `first` is an interrupted reset that is finished instead, before this one is decided again.
    """

    reset: Reset
    affected: Mapping[TopicPartition, AffectedRows]
    unfinished: tuple[Batch, ...]
    erased: Erased
    undone: tuple[Batch, ...] = ()
    first: Reset | None = None

    @property
    def asks_consent(self) -> bool:
        """Whether it is refused unless rows that others deleted may come back.

        Where the cursors stay, nothing is read that would not be read anyway.
        """
        return bool(self.erased) and not self.reset.stays

    @property
    def summary(self) -> str:
        """One line for each partition, then the remarks."""
        moves = [self._line(each) for each in self.reset.cursor]
        return "\n".join([*moves, *self.remarks])

    @property
    def remarks(self) -> Iterator[str]:
        """What comes first, clipped offsets, erased rows, the last batch and closed batches."""
        if self.first:
            yield f"{self.first.interruption}: it is finished first, and nothing else is done:"
            yield from described(self.first).splitlines()
        yield from filter(None, (each.clipping for each in self.reset.cursor))
        yield from self.erased.remarks if self.asks_consent else self.erased.lines
        yield self.reset.last_before
        if self.reset.towards:
            yield (
                f"{self.reset.towards} moves with the log: it is carried out as of that moment. The"
                " preview's id stands for the cursors before, not for those after."
            )
        yield from closed_unread(self.unfinished)
        yield from map(str, undone_backfills(self.reset.pipeline, self.undone))

    def _line(self, moved: CursorMove) -> str:
        found = self.affected[moved.partition]
        return (
            f"{moved.partition}: {moved.before} → {moved.after.offsets.start}: {moved.reread} read"
            f" again, {moved.skipped} skipped; Kafka holds {found.held or 'nothing'}; {found.rows}"
            f" rows and {found.quarantined} in quarantine replaced"
        )


def described(intended: Reset) -> str:
    """Where it goes on, one line for each partition that moves."""
    moves = [f"  {e.partition}: {e.before} → {e.after.offsets.start}" for e in intended.cursor]
    last = intended.closes[0].batch(intended.closed_at["forward"])
    return "\n".join([f"  generation {intended.generation}, after {last}", *moves])


def preview_reset(resources: PipelineResources, target: Target) -> Preview:
    """What a reset would do; nothing is written.

    Raises SettingsError for a pipeline without a data table, and what the target raises.
    """
    standing = read_standing(resources, target.trust)
    require_decided(resources, standing, record=False)
    intended = decide_reset(resources, standing, target, reason="")
    logs = resources.kafka.state(resources.spec).logs
    lane, again = standing.forward, scope_read_again(standing, intended)
    rows = lane.data.row_counts(again) if again.places else {}
    quarantined = _live_quarantine(resources, lane, again) if again.places else {}
    return Preview(
        intended,
        {
            each.partition: AffectedRows(
                rows.get(each.after.place, 0),
                quarantined.get(each.after.place, 0),
                logs.get(each.partition),
            )
            for each in intended.cursor
        },
        standing.unfinished,
        erased_by(lane, intended),
        tuple(undone_by(standing, intended)),
        _finished_first(resources, standing),
    )


def _finished_first(resources: PipelineResources, standing: Standing) -> Reset | None:
    """The interrupted reset that is finished first, if it still can be."""
    lane = standing.forward
    pending = lane.resets.interrupted
    if pending is None or lane.data.closed(pending.closes[0]):
        return pending
    again = ToIntended(pending)
    try:
        again.trust(lane)
        intended = decide_reset(resources, standing, again, pending.reason)
        require_none_erased_since(lane, intended, pending)
    except GIVEN_UP:
        return None
    return pending


def scope_read_again(standing: Standing, intended: Reset) -> OffsetScope:
    """The offsets from which the new generation reads what was read before."""
    reached = standing.forward.closed_by(intended).reach.ends
    return OffsetScope.of_ranges(
        {
            each.after.place: [onwards(each)]
            for each in intended.cursor
            if each.after.offsets.start < reached.get((each.after.topic_id, each.partition), 0)
        }
    )


def undone_by(standing: Standing, intended: Reset) -> Iterator[Batch]:
    """The committed batches of the backfill lane that will not count any more."""
    for closing in (*intended.earlier, intended):
        sequence, first = replace(closing.closes[0], lane="backfill"), closing.closed_at["backfill"]
        last = standing.claimed[sequence]
        yield from standing.forward.snapshot.batches(sequence, first + 1, last=last)


def _live_quarantine(
    resources: PipelineResources, lane: LaneState, scope: OffsetScope
) -> Mapping[TopicIdPartition, int]:
    """How many live quarantine rows each partition has at these offsets."""
    live = read_quarantined(resources, lane, scope).of(RecordState.LIVE)
    return Counter(row.place for row in live)
