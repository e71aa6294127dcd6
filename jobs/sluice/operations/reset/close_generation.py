"""Resets: close a generation exactly, and open the next one at other offsets.

The fence is a commit to the data table from the very snapshot that the reset was decided on: if a
batch landed in between, the commit is refused, and the reset starts over. Once it stands, the new
generation counts; the next run or command writes down what a crash left unwritten.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from sluice.errors import (
    CommitConflict,
    CommitFailed,
    OffsetsDamaged,
    PreviewOutdated,
)
from sluice.failpoints import reach
from sluice.moves import Move
from sluice.offsets.batches import BatchSequence
from sluice.offsets.origin import Origin
from sluice.offsets.resets import Reset
from sluice.operations.reset.closed_receipts import write_closed_receipts
from sluice.operations.reset.consent import confirm
from sluice.operations.reset.decision import decide_reset, require_decided
from sluice.operations.reset.left_behind import left_behind
from sluice.operations.reset.preview import described
from sluice.operations.reset.repeats import Repetition, find_repetition
from sluice.operations.reset.standing import Standing, read_standing
from sluice.operations.reset.targets import Target, ToIntended
from sluice.progress.interrupted import GIVEN_UP, require_none_erased_since
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.settle.mirror import mirror
from sluice.protocol.settle.write_receipts import write_receipts
from sluice.tables.offsets_appends import append_reset

log = logging.getLogger(__name__)

_CROSSED = (
    "{pipeline}: {{times}} a batch landed during the reset. Pause the DAG, and run the reset again."
)


def reset(
    resources: PipelineResources,
    target: Target,
    reason: str,
    origin: Origin,
    as_previewed: str | None = None,
    bring_back_erased: bool = False,
) -> Reset:
    """Carry the reset out. Raises as `preview_reset`, and CommitFailed after repeated conflicts.

    Raises PreviewOutdated if it would not do what the preview with that id showed, or if an
    interrupted reset had to be finished first; RowsErased where rows that others deleted would
    come back and are not to.
    """
    finished = _finish_if_possible(resources, origin)
    newest = resources.offsets.snapshot().resets().newest
    repeats = None
    if newest is not None and newest.done:
        if as_previewed and as_previewed in _previews(newest, target, reason):
            log.info("%s: already done: generation %d is open", newest.pipeline, newest.generation)
            mirror(resources)
            return newest
        repeats = None if as_previewed else find_repetition(resources, target, reason, newest)
    if finished is not None and not repeats:
        raise PreviewOutdated(
            f"{finished.pipeline}: an interrupted reset ({finished.reason}) was finished just now,"
            f" to generation {finished.generation}:\n{described(finished)}\nNothing else was done."
            " Check it, and reset again if that is not what you want."
        )
    if newest is not None and finished is None and repeats is Repetition.FROM_THERE:
        raise PreviewOutdated(
            f"{newest.pipeline}: this reset was done before ({newest.recorded}: {newest.reason}):\n"
            f"{described(newest)}\nNothing was changed. To go on from where the cursor is now,"
            " give the id of a preview with --as-previewed, or another reason."
        )
    done = finished or start_generation(
        resources, target, reason, origin, as_previewed, bring_back_erased
    )
    mirror(resources)
    return done


def _previews(done: Reset, target: Target, reason: str) -> list[str]:
    """The ids of previews that a reset may have carried out.

    Which moving target it had is not recorded: the same reason has to vouch for that.
    """
    towards = target.towards if done.reason == reason else ""
    return [done.preview, replace(done, towards=towards).preview]


def _finish_if_possible(resources: PipelineResources, origin: Origin) -> Reset | None:
    """As `finish_reset`; if it can no longer be done as decided, the new reset replaces it."""
    try:
        return finish_reset(resources, origin)
    except GIVEN_UP as problem:
        log.warning("%s: an interrupted reset is abandoned: %s", resources.spec.pipeline, problem)
        return None


def finish_reset(resources: PipelineResources, origin: Origin) -> Reset | None:
    """Complete a reset that was intended and interrupted; None where there is none."""
    pending = resources.offsets.snapshot().resets().interrupted
    if pending is None:
        return None
    log.warning("%s: finishing the reset to generation %d", pending.pipeline, pending.generation)
    if resources.data.snapshot().closed(pending.closes[0]):
        return _write_done(resources, pending.generation, origin)
    return start_generation(resources, ToIntended(pending), pending.reason, origin)


def start_generation(
    resources: PipelineResources,
    target: Target,
    reason: str,
    origin: Origin,
    as_previewed: str | None = None,
    bring_back_erased: bool = False,
) -> Reset:
    """Close the generation and open the next one. Raises as `reset` does."""

    def close() -> Reset:
        nonlocal target
        standing = read_standing(resources, target.trust)
        require_decided(resources, standing, record=True)
        lane = standing.forward
        if isinstance(target, ToIntended) and target.reset.generation <= lane.generation:
            return _finished(resources, target.reset, origin)
        intended = decide_reset(resources, standing, target, reason)
        if isinstance(target, ToIntended):
            require_none_erased_since(lane, intended, target.reset, bring_back_erased)
        else:
            confirm(standing, intended, as_previewed, bring_back_erased)
        _settle(resources, lane, intended, origin)
        try:
            append_reset(lane.snapshot, intended, origin)
            # Decided: any later attempt, here or after a crash, leads to the same offsets.
            target = ToIntended(intended, target.trust)
            reach("reset intended")
            _close(resources, standing, [*lane.unfenced, *intended.closes])
        except CommitConflict:
            log.info("%s: commit conflict; deciding again", resources.spec.pipeline)
            if not resources.data.snapshot().closed(intended.closes[0]):
                raise
        else:
            reach("fence stands")
        return _finished(resources, intended, origin)

    return until_it_lands(resources, close, _CROSSED.format(pipeline=resources.spec.pipeline))


def _settle(resources: PipelineResources, lane: LaneState, intended: Reset, origin: Origin) -> None:
    """Write the receipts that are due.

    One says that every commit below it was judged: not yet, where one is a RESTORE.
    """
    if lane.as_committed:
        for each, last in intended.closed_at.items():
            write_receipts(resources, origin, each, last)


def _finished(resources: PipelineResources, intended: Reset, origin: Origin) -> Reset:
    """The reset, recorded as done; its fence stands. Another process may have been faster.

    Raises CommitFailed if a concurrent reset opened the generation instead.
    """
    done = _write_done(resources, intended.generation, origin)
    if done.by_partition != intended.by_partition:
        raise CommitFailed(
            f"{done.pipeline}: another reset opened generation {done.generation} at the same time"
            f" ({done.reason or 'no reason'}). Look at ",
            Move("history", (done.pipeline,)),
            ", and reset again if needed.",
        )
    return done


def _write_done(resources: PipelineResources, generation: int, origin: Origin) -> Reset:
    """Record that a reset is done, whose fence stands, unless another process did."""

    def write() -> Reset:
        snapshot = resources.offsets.snapshot()
        fenced = snapshot.resets().by_generation.get(generation)
        if fenced is None:
            raise OffsetsDamaged(
                f"{resources.spec.pipeline}: expected the row of the reset to generation"
                f" {generation}, found none: the offsets table was dropped or put back meanwhile."
                " Bring the newest back; or ",
                Move("recover", (resources.spec.pipeline,)),
                " builds it anew.",
            )
        if fenced.done:
            return fenced
        write_closed_receipts(resources, fenced, origin)
        state = read_unchecked(resources)
        done = replace(fenced, done=True)
        lost = left_behind(state, fenced, origin)
        for each in lost:
            log.warning("%s: its rows were taken away, and the topic is gone", each.offsets)
        append_reset(state.snapshot, done, origin, lost)
        log.info("%s: generation %d is open", done.pipeline, done.generation)
        return done

    return until_it_lands(
        resources,
        write,
        f"{resources.spec.pipeline}: the reset stands, but is not recorded as done. Run again.",
    )


def _close(
    resources: PipelineResources, standing: Standing, closed: Sequence[BatchSequence]
) -> None:
    """Write the fences and read them back: success means nothing. Raises CommitConflict."""
    standing.fencing.close(closed, resources.clock.now())
    data = resources.data.snapshot()
    if not all(data.closed(each) for each in closed):
        raise CommitConflict(f"{data.uri}: the fence was overwritten by another commit")
