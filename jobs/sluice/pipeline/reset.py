"""Resetting: close a generation exactly, and open the next one somewhere else.

The fence is a commit to the data table from the very snapshot that the reset was decided on: had
a batch landed in between, it is refused, and the reset starts over. Once it stands, the new
generation counts; whoever comes next writes down what a crash has left unwritten.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from sluice.errors import CommitFailed, SettingsError
from sluice.failpoints import reach
from sluice.pipeline.parts import Parts
from sluice.pipeline.settle import mirror, write_receipts
from sluice.pipeline.targets import Target, as_intended, standing
from sluice.planning.resets import MovedCursor, Reset
from sluice.tables.fencing import Fencing
from sluice.tables.offsets_rows import Origin
from sluice.tables.overtaken import Overtaken

log = logging.getLogger(__name__)

_ATTEMPTS = 10


def preview_reset(parts: Parts, target: Target, reason: str = "") -> Reset:
    """What a reset would do; nothing is written.

    Raises SettingsError for a pipeline without a data table, and what the target raises.
    """
    return _decide(parts, target, reason, _fencing(parts))


def reset(parts: Parts, target: Target, reason: str, origin: Origin) -> Reset:
    """Make it so. Raises as `preview_reset`, and CommitFailed when others were always faster."""
    finish_reset(parts, origin)
    done = _reset(parts, target, reason, origin)
    mirror(parts)
    return done


def finish_reset(parts: Parts, origin: Origin) -> None:
    """Complete a reset that was intended and interrupted; nothing to do where there is none."""
    pending = parts.offsets.snapshot().resets(parts.spec.pipeline).newest
    if pending is None or pending.done:
        return
    log.warning("%s: finishing the reset to generation %d", pending.pipeline, pending.generation)
    if parts.data.closed(pending.closes[0]):
        _write_done(parts, origin)
    else:
        _reset(parts, as_intended(pending), pending.reason, origin)


def _reset(parts: Parts, target: Target, reason: str, origin: Origin) -> Reset:
    for _ in range(_ATTEMPTS):
        fencing = _fencing(parts)
        intended = _decide(parts, target, reason, fencing)
        write_receipts(parts, origin, last=intended.closed_at["forward"])
        try:
            parts.offsets.snapshot_to_write().append_reset(intended, origin)
            reach("reset intended")
            fencing.close(intended.closes)
        except Overtaken:
            log.info("%s: somebody has committed meanwhile; starting over", parts.spec.pipeline)
            if parts.data.closed(intended.closes[0]):
                return _write_done(parts, origin)
            continue
        reach("fence stands")
        return _write_done(parts, origin)
    raise CommitFailed(
        f"{parts.spec.pipeline}: {_ATTEMPTS} times in a row a batch landed during the reset."
        " Pause the DAG, and run the reset again."
    )


def _decide(parts: Parts, target: Target, reason: str, fencing: Fencing) -> Reset:
    snapshot, history, _ = parts.progress(parts.offsets.snapshot)
    before = history.sequence
    now = standing(parts, snapshot, history, fencing.last(before))
    old = {partition: at.offsets.end for partition, at in now.cursor.items()}
    return Reset(
        pipeline=before.pipeline,
        generation=before.generation + 1,
        closed_at={
            "forward": now.last,
            "backfill": fencing.last(replace(before, lane="backfill")),
        },
        cursor=tuple(
            MovedCursor(after, old.get(partition))
            for partition, after in sorted(target(now).items())
        ),
        cluster_id=history.cluster_id,
        data_version=fencing.version,
        reason=reason,
    )


def _write_done(parts: Parts, origin: Origin) -> Reset:
    """Write down that the latest reset is done, unless somebody else has."""
    for _ in range(_ATTEMPTS):
        snapshot = parts.offsets.snapshot()
        newest = snapshot.resets(parts.spec.pipeline).newest
        assert newest is not None, "a fence without a reset"
        if newest.done:
            return newest
        done = replace(newest, done=True)
        try:
            snapshot.append_reset(done, origin)
        except Overtaken:
            continue
        log.info("%s: generation %d is open", done.pipeline, done.generation)
        return done
    raise CommitFailed(f"{parts.spec.pipeline}: the reset stands, unwritten. Run again.")


def _fencing(parts: Parts) -> Fencing:
    fencing = parts.data.fencing()
    if fencing is None:
        raise SettingsError(
            f"{parts.spec.pipeline}: there is no data table yet, and so nothing to reset."
            " Change `start` in the spec."
        )
    return fencing
