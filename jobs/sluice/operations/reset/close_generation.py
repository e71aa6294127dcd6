"""Resets: close a generation exactly, and open the next one at other offsets.

The fence is a commit to the data table from the very snapshot that the reset was decided on: if a
batch landed in between, the commit is refused, and the reset starts over. Once it stands, the new
generation counts; the next run or command writes down what a crash left unwritten.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from sluice.errors import (
    CommitConflict,
    CommitFailed,
    PreviewOutdated,
    ResetNeeded,
    SettingsError,
)
from sluice.failpoints import reach
from sluice.offsets.origin import Origin
from sluice.offsets.resets import Reset, require_as_previewed
from sluice.operations.reset.held_position import held_position
from sluice.operations.reset.preview import Preview, preview_of
from sluice.operations.reset.repeats import Repetition, find_repetition
from sluice.operations.reset.targets import Target, ToIntended
from sluice.positions.position import keep_cursor, require_rows_below
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.plan.start import PositionAnswers
from sluice.protocol.settle.mirror import mirror
from sluice.protocol.settle.write_receipts import write_receipts
from sluice.tables.fence import Fencing

log = logging.getLogger(__name__)


def preview_reset(resources: PipelineResources, target: Target) -> Preview:
    """What a reset would do; nothing is written.

    Raises SettingsError for a pipeline without a data table, and what the target raises.
    """
    lane = read_unchecked(resources)
    intended = _decide(resources, lane, target, reason="")
    return preview_of(resources, lane, intended, resources.kafka.state(resources.spec).logs)


def reset(
    resources: PipelineResources,
    target: Target,
    reason: str,
    origin: Origin,
    as_previewed: str | None = None,
) -> Reset:
    """Carry the reset out. Raises as `preview_reset`, and CommitFailed after repeated conflicts.

    Raises PreviewOutdated if it would not do what the preview with that id showed, or if an
    interrupted reset had to be finished first.
    """
    finished = _finish_if_possible(resources, origin)
    newest = resources.offsets.snapshot().resets().newest
    repeats = None
    if newest is not None and newest.done:
        if as_previewed == newest.preview:
            log.info("%s: already done: generation %d is open", newest.pipeline, newest.generation)
            mirror(resources)
            return newest
        repeats = None if as_previewed else find_repetition(resources, target, reason, newest)
    if finished is not None and not repeats:
        raise PreviewOutdated(
            f"{finished.pipeline}: an interrupted reset ({finished.reason}) was finished just now,"
            f" to generation {finished.generation}:\n{_described(finished)}\nNothing else was done."
            " Check it, and reset again if that is not what you want."
        )
    if newest is not None and finished is None and repeats is Repetition.FROM_THERE:
        raise PreviewOutdated(
            f"{newest.pipeline}: this reset was done before ({newest.recorded}: {newest.reason}):\n"
            f"{_described(newest)}\nNothing was changed. To go on from where the cursor is now,"
            " give the id of a preview with --as-previewed, or another reason."
        )
    done = finished or start_generation(resources, target, reason, origin, as_previewed)
    mirror(resources)
    return done


def _finish_if_possible(resources: PipelineResources, origin: Origin) -> Reset | None:
    """As `finish_reset`; if it can no longer be done as decided, the new reset replaces it."""
    try:
        return finish_reset(resources, origin)
    except ResetNeeded as problem:
        log.warning("%s: an interrupted reset is abandoned: %s", resources.spec.pipeline, problem)
        return None


def finish_reset(resources: PipelineResources, origin: Origin) -> Reset | None:
    """Complete a reset that was intended and interrupted; None where there is none."""
    pending = resources.offsets.snapshot().resets().newest
    if pending is None or pending.done:
        return None
    log.warning("%s: finishing the reset to generation %d", pending.pipeline, pending.generation)
    if resources.data.snapshot().closed(pending.closes[0]):
        return _write_done(resources, origin)
    return start_generation(resources, ToIntended(pending), pending.reason, origin)


def start_generation(
    resources: PipelineResources,
    target: Target,
    reason: str,
    origin: Origin,
    as_previewed: str | None = None,
) -> Reset:
    """Close the generation and open the next one. Raises as `reset` does."""

    def close() -> Reset:
        nonlocal target, as_previewed
        lane = read_unchecked(resources, to_write=True)
        intended = _decide(resources, lane, target, reason)
        if as_previewed:
            require_as_previewed(as_previewed, intended.preview, _described(intended))
        for each, last in intended.closed_at.items():
            write_receipts(resources, origin, each, last)
        try:
            lane.snapshot.append_reset(intended, origin)
            # Decided: any later attempt, here or after a crash, leads to the same offsets.
            target, as_previewed = ToIntended(intended), None
            reach("reset intended")
            _require_fencing(lane).close(intended.closes)
            _require_standing(resources, intended)
        except CommitConflict:
            log.info("%s: commit conflict; deciding again", resources.spec.pipeline)
            if not resources.data.snapshot().closed(intended.closes[0]):
                raise
        else:
            reach("fence stands")
        return _require_same_reset(intended, _write_done(resources, origin))

    return until_it_lands(
        close,
        f"{resources.spec.pipeline}: {{times}} a batch landed during the reset. Pause the DAG, and"
        " run the reset again.",
    )


def decide_reset(resources: PipelineResources, target: Target, reason: str) -> Reset:
    """The reset that would be written now. Raises as `preview_reset` does."""
    return _decide(resources, read_unchecked(resources), target, reason)


def _decide(resources: PipelineResources, lane: LaneState, target: Target, reason: str) -> Reset:
    fencing = _require_fencing(lane)
    position = held_position(lane)
    moves = {**keep_cursor(position.held), **target.moves(position, PositionAnswers(resources))}
    require_rows_below(moves, position.cursor, position.held)
    old = {partition: planned.offsets.end for partition, planned in position.cursor.items()}
    return Reset(
        pipeline=lane.pipeline,
        generation=lane.generation + 1,
        closed_at=position.last,
        cursor=tuple(
            replace(each, before=old.get(partition)) for partition, each in sorted(moves.items())
        ),
        cluster_id=lane.history.cluster_id,
        data_version=fencing.version,
        reason=reason,
        data_table_id=lane.data.table_id,
    )


def _described(intended: Reset) -> str:
    moves = [f"  {e.partition}: {e.before} → {e.after.offsets.start}" for e in intended.cursor]
    last = intended.closes[0].batch(intended.closed_at["forward"])
    return "\n".join([f"  generation {intended.generation}, after {last}", *moves])


def _require_same_reset(intended: Reset, done: Reset) -> Reset:
    """Raises CommitFailed if a concurrent reset opened the generation instead."""
    if done.by_partition != intended.by_partition:
        raise CommitFailed(
            f"{done.pipeline}: another reset opened generation {done.generation} at the same time"
            f" ({done.reason or 'no reason'}). Look at `sluice history`, and reset again if needed."
        )
    return done


def _write_done(resources: PipelineResources, origin: Origin) -> Reset:
    """Record that the latest reset is done, unless another process did."""

    def write() -> Reset:
        snapshot = resources.offsets.snapshot()
        newest = snapshot.resets().newest
        assert newest is not None, "a fence without a reset"
        if newest.done:
            return newest
        done = replace(newest, done=True)
        snapshot.append_reset(done, origin)
        log.info("%s: generation %d is open", done.pipeline, done.generation)
        return done

    return until_it_lands(
        write,
        f"{resources.spec.pipeline}: the reset stands, but is not recorded as done. Run again.",
    )


def _require_standing(resources: PipelineResources, intended: Reset) -> None:
    """Read the fence back: success means nothing. Raises CommitConflict if it is not there."""
    data = resources.data.snapshot()
    if not all(data.closed(each) for each in intended.closes):
        raise CommitConflict(f"{data.uri}: the fence was overwritten by another commit")


def _require_fencing(lane: LaneState) -> Fencing:
    fencing = lane.data.fencing()
    if fencing is None:
        raise SettingsError(
            f"{lane.pipeline}: there is no data table yet, so there is nothing to reset."
            " The first run creates it; until there is a plan, `start` in the spec decides."
        )
    return fencing
