"""What a recovery has to do: the data table's own account, beside the offsets table or instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby

from sluice.errors import BatchInDoubt, GapUnexplained, OffsetsDamaged, SettingsError
from sluice.moves import advice
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.doubts import Doubt
from sluice.offsets.loss_causes import BY_POLICY, LossCause
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.receipts import Receipt, receipt_without_gaps
from sluice.offsets.resets import LANES, Reset, sequences_up_to
from sluice.operations.recover.coming_back import coming_back
from sluice.operations.recover.found_history import FoundBatch, FoundHistory, find_history
from sluice.operations.recover.gone_with_table import gone_with_table
from sluice.operations.recover.holes import find_holes
from sluice.operations.recover.left_behind import rows_left_behind
from sluice.operations.recover.opening import Opening
from sluice.operations.recover.recovery import Recovery
from sluice.operations.recover.undone import undone_and_not_read_again
from sluice.progress.lane_state import LaneState, lane_state, read_untrusted
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.doubts import evident_doubt, find_doubt
from sluice.protocol.plan.log_changes import require_topics
from sluice.protocol.plan.log_identity import with_former_topics
from sluice.protocol.plan.start import passed_over_by_start, start_now
from sluice.protocol.settle.counting import AcceptGap
from sluice.protocol.settle.write_receipts import count_batch
from sluice.tables.offsets_appends import settled_before
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.storage import was_set_aside

log = logging.getLogger(__name__)

Refusal = GapUnexplained | BatchInDoubt


def decide_recovery(
    resources: PipelineResources, reason: str, actor: str
) -> tuple[Recovery, LaneState | None]:
    """What a recovery would do, and the state that it is decided on, if anything is written there.

    Raises SettingsError where there is nothing to recover from, BrokerUnavailable.
    """
    pipeline = resources.spec.pipeline
    if not resources.data.exists() or _only_quarantine_tells(resources):
        if _is_new(resources):
            return Recovery(pipeline), None
        gone = gone_with_table(resources, resources.kafka.state(resources.spec))
        empty = [f"{resources.data.uri}: it has no rows: others may have deleted them"]
        return Recovery(
            pipeline,
            begins_anew=True,
            holes=tuple(gone),
            passed_over=passed_over_by_start(resources),
            coming_back=tuple(empty if resources.data.exists() else ()),
        ), None
    kafka = resources.kafka.state(resources.spec)
    found, sets_aside = _find(resources, kafka)
    if found is None:
        return Recovery(pipeline), None
    recovery = _recovery(resources, found, kafka, (actor, reason))
    # Raises for a table that cannot be fenced, before anything is set aside.
    found.state.data.fencing()
    return replace(recovery, sets_aside=sets_aside), found.state


def _only_quarantine_tells(resources: PipelineResources) -> bool:
    """Whether an empty copy is in the data table's place, and the offsets table is gone."""
    pipeline, data = resources.spec.pipeline, resources.data.snapshot()
    landed = any(data.committed(BatchSequence(pipeline, lane, 1)) for lane in LANES)
    if landed or not data.is_empty or _offsets_tell(resources):
        return False
    return resources.quarantine.snapshot().knows(pipeline)


def _offsets_tell(resources: PipelineResources) -> bool:
    """Whether the offsets table has batches, and will not be set aside."""
    try:
        return not read_untrusted(resources).snapshot.blank
    except OffsetsDamaged:
        return False


def _is_new(resources: PipelineResources) -> bool:
    """Whether a pipeline without a data table begins by itself.

    Raises SettingsError if nothing shows that it existed: the warehouse may be another one.
    """
    offsets = resources.offsets.snapshot()
    if not offsets.blank:
        return False
    if offsets.begun_anew:
        # A copy of the quarantine may have been put back since.
        return not resources.quarantine.snapshot().knows(resources.spec.pipeline)
    if resources.quarantine.exists() or was_set_aside(resources.offsets.uri):
        return False
    raise SettingsError(
        f"{resources.spec.pipeline}: {resources.data.uri}: there is neither a data table nor an"
        " offsets table, so there is nothing to recover. Check the mount of the warehouse; the"
        " first run of a new pipeline begins at `start`."
    )


def _find(resources: PipelineResources, kafka: KafkaState) -> tuple[FoundHistory | None, bool]:
    """What the data table tells, beside the offsets table or instead of it; None: both agree."""
    try:
        state = read_untrusted(resources)
        state.snapshot.require_whole()
        state.in_lane("backfill")  # Raises OffsetsDamaged as well.
        if state.trusted:
            return None, False
        found = find_history(state, kafka)
        if not found.contradicts:
            return found, False
    except OffsetsDamaged as problem:
        log.warning("%s", problem)
    pipeline = resources.spec.pipeline
    tables = resources.data.snapshot(), resources.quarantine.snapshot()
    nothing = OffsetsSnapshot(pipeline, None)
    lost = lane_state(pipeline, nothing, tables[0], quarantine=tables[1])
    return find_history(lost, kafka), True


def _recovery(
    resources: PipelineResources, found: FoundHistory, kafka: KafkaState, decided: tuple[str, str]
) -> Recovery:
    actor, reason = decided
    logged = (each.ranges for each in found.state.data.log.logged_batches())
    read = {offsets.partition.topic for ranges in logged for offsets, _ in ranges}
    leads, every = Opening(found, kafka), with_former_topics(resources, kafka, read)
    opening = _opening(resources, leads, reason)
    known = found.state.with_resets((*opening.earlier, opening))
    lacking = list(found.lacking())
    doubts = _doubts(resources, found, lacking)
    count = partial(_receipt, resources, known, doubts, _what_is_gone(actor, reason))
    counted = [
        _receipts(batches, count)
        for _, batches in groupby(lacking, key=lambda each: each.batch.sequence)
    ]
    holes = list(find_holes(found, every, decided))
    planned = found.state.snapshot.planned
    batches = [e.batch for e in lacking if e.batch.number > planned(e.batch.sequence)]
    sequences = sequences_up_to(found.state.pipeline, found.open)
    return Recovery(
        found.state.pipeline,
        batches=(*batches, *found.undone(kafka)),
        receipts=tuple(e for each, _ in counted for e in _in_order(found.state.snapshot, each)),
        holes=(
            *holes,
            *undone_and_not_read_again(found, every, opening, holes, decided),
            *rows_left_behind(resources, found, known, actor, reason),
        ),
        left=tuple(advice(refusal) for _, refusal in counted if refusal is not None),
        opening=opening,
        coming_back=tuple(coming_back(leads, opening)),
        rows=found.unlisted(batches),
        closes=tuple(each for each in sequences if not found.state.data.closed(each)),
        doubts=tuple(doubts.values()),
    )


def _opening(resources: PipelineResources, opening: Opening, reason: str) -> Reset:
    """The reset that opens a generation; at `start` if neither table shows a beginning."""
    found = opening.reset(reason)
    if found.cursor:
        return found
    require_topics(resources.spec, (), opening.kafka)
    return opening.reset(reason, start_now(resources, opening.kafka))


def _receipts(
    batches: Iterable[FoundBatch], count: Callable[[FoundBatch], Receipt]
) -> tuple[list[Receipt], Refusal | None]:
    """The receipts of a sequence, up to the first batch that a person has to decide about.

    That and the later ones are settled by the next run: once what Kafka holds is read again.
    """
    receipts: list[Receipt] = []
    for each in batches:
        try:
            receipts.append(count(each))
        except (GapUnexplained, BatchInDoubt) as refusal:
            return receipts, refusal
    return receipts, None


def _doubts(
    resources: PipelineResources, found: FoundHistory, lacking: Iterable[FoundBatch]
) -> Mapping[int, Doubt]:
    """The doubts about batches without a receipt, by the version that each landed in.

    Nothing lands behind a batch in doubt: those before the last one of a lane were decided about.
    """
    newest = found.newest
    asked = ((e.version, _doubt_about(resources, e.batch)) for e in lacking if e.version in newest)
    return {version: doubt for version, doubt in asked if doubt is not None}


def _doubt_about(resources: PipelineResources, batch: Batch) -> Doubt | None:
    try:
        return find_doubt(resources, batch)
    except OffsetsDamaged:
        # It is what is recovered from.
        return evident_doubt(resources, batch)


def _receipt(
    resources: PipelineResources,
    state: LaneState,
    doubts: Mapping[int, Doubt],
    accept: AcceptGap,
    found: FoundBatch,
) -> Receipt:
    """A batch's receipt, counted as settle does."""
    if doubt := doubts.get(found.version):
        raise doubt.refusal(found.version)
    if found.rows == found.batch.span and found.batch.mode == "append":
        tables = state.data.table_id, state.quarantine.table_id
        return receipt_without_gaps(found.batch.in_tables(*tables), found.version)
    return count_batch(resources, state, found.batch, accept)


def _in_order(snapshot: OffsetsSnapshot, receipts: Iterable[Receipt]) -> Iterator[Receipt]:
    """Those of a sequence, up to the first planned batch whose commit is lost."""
    settled = None
    for each in receipts:
        if settled is None:
            settled = settled_before(snapshot, each.batch)
        if each.batch.number != settled + 1:
            return
        settled = each.batch.number
        yield each


def _what_is_gone(actor: str, reason: str) -> AcceptGap:
    """The operator's reason covers what is gone, and nothing that Kafka or the table may hold."""
    return lambda _, gap: LossCause(gap.cause, actor, reason) if gap.cause in BY_POLICY else None
