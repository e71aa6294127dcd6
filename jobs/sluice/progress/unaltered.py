"""The check that the tables are unaltered: what others did to them since the last receipt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sluice.errors import TableRefused
from sluice.moves import Advice, Move, advice
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, within
from sluice.offsets.resets import Reset
from sluice.progress.held_batches import claimed_ends
from sluice.progress.judged import marked
from sluice.progress.lacking_rows import LackingRows, lacking_but_for, lacking_rows, planned_after
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantine_trust import quarantine_way_back
from sluice.progress.recorded_batches import recorded_batches
from sluice.progress.set_aside import names_of_others, uncommitted_attempts
from sluice.tables.foreign_commits import TableCommit, require_all_there, restores_of

_SHOWN = 10


def check_data_table(state: LaneState) -> None:
    """Raises TableRefused or ResetNeeded unless the tables hold what was committed to them."""
    check_rows_of_data(state)
    check_quarantine(state)


def check_rows_of_data(state: LaneState) -> None:
    """The same of the data table alone, and that it holds nothing else.

    A RESTORE also brings back what a reset has given up.
    """
    commits = require_no_foreign_commits(state)
    if not restores_of(commits):
        return
    found = recorded_batches(state, claimed_ends(state))
    undone = [each.batch for each in found if each.counts and not each.stands]
    back = [each.batch for each in found if each.stands and not each.counts and each.batch.span]
    require_all_there(state.data.uri, state.pipeline, undone, back, commits)


def check_quarantine(state: LaneState) -> None:
    """Raises TableRefused where others have taken rows that receipts count, or brought back more.

    The rows are compared only after a commit that may have done so, and after a reset: it may pass
    over records that were to be read again, or count batches of a restored table again, whose rows
    no check has missed so far.
    """
    commits = state.quarantine.unjudged(state.pipeline, marked(state, state.quarantine))
    just_reset = state.generation > 1 and not state.receipts
    if not commits and not just_reset:
        return
    done = [f"version {each.version} a {each.operation}" for each in commits]
    expected = (
        f"{state.quarantine.uri}: {', '.join(done) or 'behind a reset'}: expected the quarantined"
        " records that receipts count"
    )
    back = f"RESTORE the table to version {commits[0].version - 1}; or " if commits else ""
    if commits or _is_restored(state):
        lacking, found = lacking_rows(state), list(_added(state))
    else:
        lacking, found = _passed_over(state), []
    if lacking:
        found.insert(0, f"some gone: {'; '.join(map(str, lacking))}")
    if found:
        way = quarantine_way_back(state.pipeline) if lacking else _removes(state.pipeline)
        raise TableRefused(f"{expected}, found {'; and '.join(found)}. {back}", way)


def _added(state: LaneState) -> Iterator[str]:
    """What is there more than was committed."""
    if more := uncommitted_attempts(state):
        names = _shortly(sorted(more))
        yield f"more of {names}: those of attempts that did not commit it, or of others"
    if others := names_of_others(state):
        names = _shortly([each or "null" for each in others])
        yield f"rows of no batch that was planned: {names}"


def _shortly(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join([*names[:_SHOWN], *([f"and {rest} more"] if rest > 0 else [])])


def _removes(pipeline: str) -> Advice:
    return advice(Move("quarantine recover", (pipeline,)), " removes them.")


def _is_restored(state: LaneState) -> bool:
    return bool(restores_of(state.data.log.commits(marked(state, state.data))))


def require_no_foreign_commits(state: LaneState) -> list[TableCommit]:
    """The commits since the last check. Raises TableRefused for those that stop the line.

    Every commit is checked once, and again where a RESTORE has brought it back.
    """
    return state.data.log.require_no_foreign_commits(state.pipeline, state.checked)


def _passed_over(lane: LaneState) -> list[LackingRows]:
    """The lacking rows that resets without a receipt behind them pass over.

    A quarantine table lacks no record that is read again, so no check has missed them before. For a
    table that others left alone: reads no commit of theirs if no row is lacking. Batches committed
    after the reset without a receipt are counted too. A table that replaces another may lack more:
    a recovery that set it anew may have stopped before it planned a rewind.
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
