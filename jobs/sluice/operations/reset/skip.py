"""Skips: pass over single offsets, with a loss record for each and a plan around them.

An unfinished plan that would read them is closed with its generation, by a reset that leaves the
cursor where it is. Then one commit holds the batches around the offsets and the losses, and the
next run adopts them. After a crash in between, the same command continues from there.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import BatchSequence
from sluice.offsets.losses import Skipped, recorded_skips
from sluice.offsets.notation import Positions
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.resets import require_as_previewed
from sluice.operations.reset.close_generation import finish_reset, start_generation
from sluice.operations.reset.decision import decide_reset
from sluice.operations.reset.skip_rules import (
    Skip,
    merge_skips,
    one_offset,
    skip_losses,
    still_ahead,
)
from sluice.operations.reset.standing import read_standing
from sluice.operations.reset.targets import to_table
from sluice.progress.lane_state import LaneState, require_trusted
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.start import PositionAnswers
from sluice.protocol.plan.write_plan import next_plan, write_plan
from sluice.tables.offsets_rows import read_losses
from sluice.tables.offsets_snapshot import OffsetsSnapshot

log = logging.getLogger(__name__)


def preview_skip(
    resources: PipelineResources, positions: Positions, reason: str, actor: str
) -> Skip:
    """What a skip would do; nothing is written.

    Raises SettingsError for offsets that cannot be skipped, and what planning and resetting raise.
    """
    standing = read_standing(resources, require_trusted)
    lane = standing.forward
    check_data_table(lane)
    recorded = {each.offsets: each for each in _recorded_skips_of(lane.snapshot, lane.sequence)}
    requested = {
        at: offset for at, offset in positions.items() if one_offset(at, offset) not in recorded
    }
    if not requested:
        done = tuple(recorded[one_offset(at, offset)] for at, offset in sorted(positions.items()))
        return Skip(lane.pipeline, Plan(()), done, done=True)
    require_due_decided(resources, lane, record=False)
    cursor, pending = standing.cursor, lane.resets.interrupted
    logs = PositionAnswers(resources).logs(lane.history.cluster_id)
    new = skip_losses(requested, cursor, logs, actor, reason)
    skips = merge_skips(still_ahead(_all_recorded(lane), cursor), new)
    intended, unfinished = None, standing.unfinished if lane.unfinished else ()
    if unfinished:
        named = ", ".join(f"{each.offsets.partition}@{each.offsets.start}" for each in new)
        intended = decide_reset(resources, standing, to_table, f"skip of {named}: {reason}")
        lane = lane.closed_by(intended)
    known = KnownLogs(resources.kafka.state(resources.spec))
    plan = next_plan(resources, lane, known, skips)
    return Skip(lane.pipeline, plan, skips, unfinished, intended, pending)


def skip(
    resources: PipelineResources,
    positions: Positions,
    reason: str,
    origin: Origin,
    as_previewed: str | None = None,
) -> Skip:
    """Carry the skip out, unless it is already done. Raises as `preview_skip`, and CommitFailed.

    Raises PreviewOutdated if it would not do what the preview with that id showed.
    """

    def step() -> Skip:
        nonlocal as_previewed
        finish_reset(resources, origin)
        found = preview_skip(resources, positions, reason, origin.actor)
        if found.done:
            return found
        if as_previewed:
            require_as_previewed(as_previewed, found.preview, found.summary)
            as_previewed = None
        if found.reset is not None:
            start_generation(resources, to_table, found.reset.reason, origin)
            reach("skip fenced")
            raise CommitConflict("a new generation is open")
        return replace(found, plan=_plan_around(resources, found, origin), done=True)

    return until_it_lands(
        resources,
        step,
        f"{resources.spec.pipeline}: {{times}} another process planned meanwhile. Pause the DAG,"
        " and run the skip again.",
    )


class _PlanChanged(Exception):
    """Another process planned in between."""


def _plan_around(resources: PipelineResources, found: Skip, origin: Origin) -> Plan:
    first = found.plan.batches[0]

    def around(lane: LaneState) -> Plan:
        next_number = (lane.sequence, lane.history.planned + 1)
        busy = lane.resets.interrupted or lane.unfinished
        if busy or next_number != (first.sequence, first.number):
            raise _PlanChanged
        known = KnownLogs(resources.kafka.state(resources.spec))
        return next_plan(resources, lane, known, found.skips)

    try:
        return write_plan(resources, origin, "forward", around).plan
    except _PlanChanged:
        log.info("%s: another process planned first; deciding again", resources.spec.pipeline)
        raise CommitConflict("another process planned in between") from None


def _recorded_skips_of(snapshot: OffsetsSnapshot, sequence: BatchSequence) -> list[Skipped]:
    return recorded_skips(read_losses(snapshot.rows(sequence, ["loss"])))


def _all_recorded(lane: LaneState) -> list[Skipped]:
    """The generation's skips, and those of generations that ended where this one continues."""
    sequence = lane.sequence
    found = _recorded_skips_of(lane.snapshot, sequence)
    while (opening := lane.resets.by_generation.get(sequence.generation)) and opening.stays:
        sequence = replace(sequence, generation=sequence.generation - 1)
        found += _recorded_skips_of(lane.snapshot, sequence)
    return found
