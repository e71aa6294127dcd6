"""Recoveries: the offsets table, written anew from the data table, or set aside.

First a fence closes every generation that the data table knows, from the version that was decided
on; then one commit to the offsets table holds all that is found, and opens a new generation. Until
then the tables contradict each other, and nothing is written; after a crash the same command
begins again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sluice.errors import CommitConflict, OffsetsDamaged, SettingsError
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.loss_causes import LossCause
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import Receipt, receipt_without_gaps
from sluice.offsets.resets import LANES, Reset
from sluice.operations.recover.found_history import FoundBatch, FoundHistory, find_history
from sluice.progress.lane_state import LaneState, lane_state, read_untrusted
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.settle.counting import AcceptGap
from sluice.protocol.settle.write_receipts import count_batch
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.storage import bring_back_kept, set_aside, was_set_aside

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recovery:
    """What a recovery writes, or would write.

    `sets_aside` says whether the offsets table in place is renamed first, and `begins_anew` whether
    that is all, as there is no data table. Otherwise `batches` get a plan, `receipts` are written,
    and `opening` is the reset that follows; None where both tables agree. `rows` are of batches of
    which only the rows tell. `done` if nothing is left to do.
    """

    pipeline: str
    sets_aside: bool = False
    begins_anew: bool = False
    batches: tuple[Batch, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    opening: Reset | None = None
    rows: int = 0
    closes: tuple[BatchSequence, ...] = ()
    done: bool = False

    def __bool__(self) -> bool:
        return self.begins_anew or self.sets_aside or self.opening is not None

    @property
    def lost(self) -> int:
        """Offsets without a row that nothing explains."""
        return sum(each.lost for each in self.receipts)


def preview_recovery(resources: PipelineResources, reason: str, origin: Origin) -> Recovery:
    """What a recovery would do; nothing is written. Falsy where both tables agree.

    Raises SettingsError where there is nothing to recover from, BrokerUnavailable.
    """
    return _decide(_beside_version_1(resources), reason, origin.actor)[0]


def recover(resources: PipelineResources, reason: str, origin: Origin) -> Recovery:
    """Carry the recovery out. Raises as `preview_recovery`, and CommitFailed."""
    resources = _beside_version_1(resources)
    bring_back_kept(resources.offsets.uri)

    def step() -> Recovery:
        decided_on = resources.offsets.snapshot().table_id
        found, state = _decide(resources, reason, origin.actor)
        if (found.begins_anew or found.sets_aside) and (
            resources.offsets.snapshot().table_id != decided_on
        ):
            raise CommitConflict("another recovery has written the table since")
        if found.begins_anew:
            _begin_anew(resources, reason, origin)
            return replace(found, done=True)
        if found.sets_aside:
            _set_aside(resources.offsets.uri, origin)
            reach("offsets set aside")
            return replace(step(), sets_aside=True)
        if found.opening is None or state is None:
            # Also where nothing is lacking but version 2 itself.
            resources.offsets.snapshot_to_write()
            return replace(found, done=True)
        if not state.snapshot.exists:
            # What is found is written against the version it was found at: so of two, one wins.
            resources.offsets.snapshot_to_write()
            return step()
        _close(resources, state, found.closes)
        reach("recovery fenced")
        state.snapshot.append_recovery(found.batches, found.receipts, found.opening, origin)
        return replace(found, done=True)

    return until_it_lands(
        resources,
        step,
        f"{resources.spec.pipeline}: {{times}} another process wrote meanwhile. Pause the DAG, and"
        " run the recovery again.",
    )


def _beside_version_1(resources: PipelineResources) -> PipelineResources:
    return replace(resources, offsets=resources.offsets.beside_version_1())


def _decide(
    resources: PipelineResources, reason: str, actor: str
) -> tuple[Recovery, LaneState | None]:
    pipeline = resources.spec.pipeline
    if not resources.data.exists():
        return Recovery(pipeline, begins_anew=not _is_new(resources)), None
    found, sets_aside = _find(resources)
    if found is None:
        return Recovery(pipeline), None
    recovery = _recovery(resources, found, reason, actor)
    # Raises for a table that cannot be fenced, before anything is set aside.
    found.state.data.fencing()
    return replace(recovery, sets_aside=sets_aside), found.state


def _is_new(resources: PipelineResources) -> bool:
    """Whether a pipeline without a data table begins by itself.

    Raises SettingsError where nothing is there that tells of it: the warehouse may be another.
    """
    offsets = resources.offsets.snapshot()
    if not offsets.blank:
        return False
    if offsets.begun_anew:
        return True
    if resources.quarantine.exists() or was_set_aside(resources.offsets.uri):
        return False
    raise SettingsError(
        f"{resources.spec.pipeline}: {resources.data.uri}: there is neither a data table nor an"
        " offsets table, so there is nothing to recover. Check the mount of the warehouse; the"
        " first run of a new pipeline begins at `start`."
    )


def _begin_anew(resources: PipelineResources, reason: str, origin: Origin) -> None:
    """Old names of batches begin again: their quarantine goes aside, too."""
    for table in (resources.quarantine, resources.offsets):
        if table.exists():
            _set_aside(table.uri, origin)
    reach("offsets set aside")
    resources.offsets.begin_anew(f"{origin}: {reason}")


def _set_aside(uri: str, origin: Origin) -> None:
    log.warning("%s: now at %s", uri, set_aside(uri, origin.at))


def _find(resources: PipelineResources) -> tuple[FoundHistory | None, bool]:
    """What the data table tells, beside the offsets table or instead of it; None: both agree."""
    kafka = resources.kafka.state(resources.spec)
    try:
        state = read_untrusted(resources)
        state.snapshot.require_whole()
        read_untrusted(resources, "backfill")
        if state.trusted:
            return None, False
        found = find_history(state, kafka)
        if not found.contradicts:
            return found, False
    except OffsetsDamaged as problem:
        log.warning("%s", problem)
    pipeline = resources.spec.pipeline
    lost = lane_state(pipeline, OffsetsSnapshot(pipeline, None), resources.data.snapshot())
    return find_history(lost, kafka), True


def _recovery(
    resources: PipelineResources, found: FoundHistory, reason: str, actor: str
) -> Recovery:
    kafka = resources.kafka.state(resources.spec)
    opening = found.opening(kafka, reason)
    if not opening.cursor:
        return Recovery(found.state.pipeline)
    known = found.state.with_resets((*opening.earlier, opening))
    receipts = [_receipt(resources, each, known, actor, reason) for each in found.lacking()]
    planned = found.state.snapshot.planned
    batches = [e.batch for e in receipts if e.batch.number > planned(e.batch.sequence)]
    sequences = [
        BatchSequence(found.state.pipeline, lane, generation)
        for generation in range(1, found.open + 1)
        for lane in LANES
    ]
    return Recovery(
        found.state.pipeline,
        batches=tuple(batches),
        receipts=tuple(receipts),
        opening=opening,
        rows=found.unlisted(batches),
        closes=tuple(each for each in sequences if not found.state.data.closed(each)),
    )


def _receipt(
    resources: PipelineResources, found: FoundBatch, state: LaneState, actor: str, reason: str
) -> Receipt:
    """A batch's receipt, counted as settle does; the operator's reason covers unexplained gaps."""
    if found.rows == found.batch.span and found.batch.mode == "append":
        return receipt_without_gaps(found.batch, found.version)
    accept = _by_hand(actor, reason)
    return count_batch(resources, state, found.batch, accept)


def _by_hand(actor: str, reason: str) -> AcceptGap:
    return lambda _, gap: LossCause(gap.cause, actor, reason)


def _close(
    resources: PipelineResources, state: LaneState, sequences: Sequence[BatchSequence]
) -> None:
    """Close the sequences at the version that was decided on, and read the fences back."""
    fencing = state.data.fencing()
    assert fencing is not None, "the table was there"
    fencing.close(sequences, resources.clock.now())
    data = resources.data.snapshot()
    if not all(data.closed(each) for each in sequences):
        raise CommitConflict(f"{data.uri}: the fence was overwritten by another commit")
