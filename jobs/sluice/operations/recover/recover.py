"""Recoveries: the offsets table, written anew from the data table, or set aside.

First a fence closes every generation that the data table knows, from the version that was decided
on; then one commit to the offsets table holds all that is found, and opens a new generation. Until
then the tables contradict each other, and nothing is written; after a crash the same command
begins again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from sluice.errors import CommitConflict, TableRefused
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.origin import Origin
from sluice.offsets.resets import LANES, Reset
from sluice.operations.recover.coming_back import require_may_come_back
from sluice.operations.recover.decision import decide_recovery
from sluice.operations.recover.recovery import Recovery
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.protocol.plan.doubts import mark
from sluice.protocol.settle.close_quarantine import fence_quarantine
from sluice.tables.offsets_appends import append_losses, append_recovery
from sluice.tables.storage import bring_back_kept, set_aside

log = logging.getLogger(__name__)


def preview_recovery(resources: PipelineResources, reason: str, origin: Origin) -> Recovery:
    """What a recovery would do; nothing is written. Falsy where both tables agree.

    Raises SettingsError where there is nothing to recover from, BrokerUnavailable.
    """
    return decide_recovery(_beside_version_1(resources), reason, origin.actor)[0]


def recover(
    resources: PipelineResources, reason: str, origin: Origin, bring_back_erased: bool = False
) -> Recovery:
    """Carry the recovery out. Raises as `preview_recovery`, RowsErased, CommitFailed, and
    TableRefused or OffsetsDamaged where the tables contradict each other all the same.
    """
    resources = _beside_version_1(resources)
    bring_back_kept(resources.offsets.uri)
    return until_it_lands(
        resources,
        lambda: _carry_out(resources, reason, origin, bring_back_erased),
        f"{resources.spec.pipeline}: {{times}} another process wrote meanwhile. Pause the DAG, and"
        " run the recovery again.",
    )


def _carry_out(resources: PipelineResources, reason: str, origin: Origin, erased: bool) -> Recovery:
    """Decide and do the next step, until nothing is left: some change what is decided on."""
    sets_aside = False
    while True:
        found = _step(resources, reason, origin, erased)
        sets_aside |= found.sets_aside
        if found.done:
            _require_agreement(resources, found.opening)
            return replace(found, sets_aside=sets_aside)


def _step(resources: PipelineResources, reason: str, origin: Origin, erased: bool) -> Recovery:
    """What was decided, and whether that is `done`; else the tables are to be looked at anew."""
    decided_on = resources.offsets.snapshot().table_id
    found, state = decide_recovery(resources, reason, origin.actor)
    require_may_come_back(resources.spec.pipeline, found.coming_back, erased)
    goes = found.begins_anew or found.sets_aside
    if goes and resources.offsets.snapshot().table_id != decided_on:
        raise CommitConflict("another recovery has written the table since")
    if found.begins_anew:
        _begin_anew(resources, found, reason, origin)
        return replace(found, done=True)
    for each in found.doubts:
        # What the next look finds may be less: a topic goes, and this offsets table is set aside.
        mark(resources, each)
    if found.sets_aside:
        _set_aside(resources.offsets.uri, origin)
        reach("offsets set aside")
        return found
    if found.opening is None or state is None:
        # Also where nothing is lacking but version 2 itself.
        resources.offsets.snapshot_to_write()
        return replace(found, done=True)
    if not state.snapshot.exists:
        # What is found is written against the version it was found at: so of two, one wins.
        resources.offsets.snapshot_to_write()
        return found
    _close(resources, state, found.closes)
    reach("recovery fenced")
    _close_quarantine(resources, state, found)
    append_recovery(
        state.snapshot, found.batches, found.receipts, found.losses, found.opening, origin
    )
    return replace(found, done=True)


def _require_agreement(resources: PipelineResources, opening: Reset | None) -> None:
    """Ask what led here once more: "done" means that it is refused no longer.

    Raises CommitConflict where another recovery has closed what this one has opened: it had seen
    the fences, took the generation for one that is lost, and may have stopped behind its own.
    """
    try:
        for lane in LANES:
            require_no_foreign_commits(read_unchecked(resources, lane))
    except TableRefused as problem:
        if opening is not None and _is_closed(resources, opening):
            raise CommitConflict("another recovery has closed what was opened") from problem
        raise


def _is_closed(resources: PipelineResources, opening: Reset) -> bool:
    data = resources.data.snapshot()
    opened = [BatchSequence(opening.pipeline, each, opening.generation) for each in LANES]
    return any(map(data.closed, opened))


def _beside_version_1(resources: PipelineResources) -> PipelineResources:
    return replace(resources, offsets=resources.offsets.beside_version_1())


def _begin_anew(resources: PipelineResources, found: Recovery, reason: str, origin: Origin) -> None:
    """Old names of batches begin again: their quarantine gets another name, too."""
    for table in (resources.quarantine, resources.offsets):
        if table.exists():
            _set_aside(table.uri, origin)
    reach("offsets set aside")
    resources.offsets.begin_anew(f"{origin}: {reason}")
    if found.holes:
        append_losses(resources.offsets.snapshot(), found.losses, origin)


def _set_aside(uri: str, origin: Origin) -> None:
    log.warning("%s: now at %s", uri, set_aside(uri, origin.at))


def _close_quarantine(resources: PipelineResources, state: LaneState, found: Recovery) -> None:
    """Close the quarantine of all that is closed, and of all batches that get a receipt."""
    closed: dict[BatchSequence, list[Batch]] = {each: [] for each in found.closes}
    for each in found.receipts:
        closed.setdefault(each.batch.sequence, []).append(each.batch)
    fence_quarantine(resources, state, closed)


def _close(
    resources: PipelineResources, state: LaneState, sequences: Sequence[BatchSequence]
) -> None:
    """Close the sequences at the version that was decided on, and read the fences back."""
    fencing = state.data.fencing()
    if fencing is None:
        raise CommitConflict(f"{state.data.uri}: the table was dropped meanwhile")
    fencing.close(sequences, resources.clock.now())
    data = resources.data.snapshot()
    if not all(data.closed(each) for each in sequences):
        raise CommitConflict(f"{data.uri}: the fence was overwritten by another commit")
