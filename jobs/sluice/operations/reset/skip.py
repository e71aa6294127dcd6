"""Skipping: pass over single offsets, with a loss record of each and a plan around them.

An unfinished plan that would read them is closed with its generation, by a reset that leaves the
cursor where it stands. Then one commit has the batches around the offsets, and the losses: the
next run adopts them. After a crash in between, the same command goes on from there.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from sluice.errors import CommitFailed
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.history import History
from sluice.offsets.losses import Skipped, recorded_skips
from sluice.offsets.notation import Positions
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.resets import Reset, Resets, require_as_previewed
from sluice.operations.reset.close_generation import decide_reset, start_generation
from sluice.operations.reset.held_position import held_position
from sluice.operations.reset.skip_rules import (
    Skip,
    merge_skips,
    one_offset,
    skip_losses,
    still_ahead,
)
from sluice.operations.reset.targets import to_table
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.start import Answers
from sluice.protocol.plan.write_plan import next_plan, write_plan
from sluice.tables.offsets_rows import read_losses
from sluice.tables.offsets_table import OffsetsSnapshot

log = logging.getLogger(__name__)

_ATTEMPTS = 10


class _Changed(Exception):
    """Somebody has planned meanwhile."""


def preview_skip(parts: PipelineResources, positions: Positions, reason: str, actor: str) -> Skip:
    """What a skip would do; nothing is written.

    Raises SettingsError for offsets that cannot be skipped, and what a plan and a reset raise.
    """
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    check_data_table(parts, snapshot, history.sequence)
    told = {each.offsets: each for each in _recorded(snapshot, history.sequence)}
    wanted = {at: offset for at, offset in positions.items() if one_offset(at, offset) not in told}
    if not wanted:
        known = tuple(told[one_offset(at, offset)] for at, offset in sorted(positions.items()))
        return Skip(parts.spec.pipeline, Plan(()), known, done=True)
    now = held_position(parts, snapshot, history, parts.committed_by_lane(history.sequence))
    logs = Answers(parts).logs(now.cluster_id)
    new = skip_losses(wanted, now.cursor, logs, actor, reason)
    skips = merge_skips(still_ahead(_all_recorded(parts, snapshot, history), now.cursor), new)
    unfinished: tuple[Batch, ...] = ()
    intended = None
    if history.after(committed):
        unfinished = parts.unfinished()
        named = ", ".join(f"{each.offsets.partition}@{each.offsets.start}" for each in new)
        intended = decide_reset(parts, to_table, f"skip of {named}: {reason}")
        history = _opened(intended, snapshot)
    plan = next_plan(parts, history, parts.kafka.state(parts.spec), skips)
    return Skip(parts.spec.pipeline, plan, skips, unfinished, intended)


def skip(
    parts: PipelineResources,
    positions: Positions,
    reason: str,
    origin: Origin,
    as_previewed: str | None = None,
) -> Skip:
    """Make it so; says so where it was done before. Raises as `preview_skip`, and CommitFailed.

    Raises PreviewOutdated when it would not do what the preview of that id has shown.
    """
    for _ in range(_ATTEMPTS):
        found = preview_skip(parts, positions, reason, origin.actor)
        if found.done:
            return found
        if as_previewed:
            require_as_previewed(as_previewed, found.preview, found.told)
            as_previewed = None
        if found.reset is not None:
            start_generation(parts, to_table, found.reset.reason, origin)
            reach("skip fenced")
            continue
        try:
            return replace(found, plan=_write_down(parts, found, origin), done=True)
        except _Changed:
            log.info("%s: somebody else has just planned; starting over", parts.spec.pipeline)
    raise CommitFailed(
        f"{parts.spec.pipeline}: {_ATTEMPTS} times in a row another process planned meanwhile."
        " Pause the DAG, and run the skip again."
    )


def _write_down(parts: PipelineResources, found: Skip, origin: Origin) -> Plan:
    first = found.plan.batches[0]

    def around(history: History, unfinished: tuple[Batch, ...]) -> Plan:
        if unfinished or (history.sequence, history.planned + 1) != (first.sequence, first.number):
            raise _Changed
        return next_plan(parts, history, parts.kafka.state(parts.spec), found.skips)

    return write_plan(parts, origin, "forward", around).plan


def _recorded(snapshot: OffsetsSnapshot, sequence: BatchSequence) -> list[Skipped]:
    return recorded_skips(read_losses(snapshot.rows(sequence, ["loss"])))


def _all_recorded(
    parts: PipelineResources, snapshot: OffsetsSnapshot, history: History
) -> list[Skipped]:
    """The generation's skips, and those of generations that ended where this one goes on."""
    resets, sequence = snapshot.resets(parts.spec.pipeline), history.sequence
    found = _recorded(snapshot, sequence)
    while (opening := resets.by_generation.get(sequence.generation)) and opening.stays:
        sequence = replace(sequence, generation=sequence.generation - 1)
        found += _recorded(snapshot, sequence)
    return found


def _opened(intended: Reset, snapshot: OffsetsSnapshot) -> History:
    """The generation as the reset will open it."""
    generation = intended.generation
    known = snapshot.resets(intended.pipeline).by_generation
    reached = Resets({**known, generation: intended}).reached(generation)
    sequence = BatchSequence(intended.pipeline, "forward", generation)
    return History(sequence, opening=intended, reached=reached)
