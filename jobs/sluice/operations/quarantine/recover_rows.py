"""Recoveries of the quarantine: missing records are read again, or recorded as lost.

In this order, so that a crash leaves a state that the same command goes on from: the table, if it
is gone; loss rows for what Kafka no longer holds; a plan, in the backfill lane, for what it does.
Then the quarantine of all batches with a receipt is closed again, and that of all closed
generations; with it go rows that others have brought back, or added.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sluice.errors import TableRefused
from sluice.failpoints import reach
from sluice.moves import YOUR_WORDS, Move
from sluice.offsets.batches import BatchReference, BatchSequence, Lane
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.notation import parse_batch
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.quarantine_tickets import FENCED, closing_number
from sluice.offsets.quarantined import Drop
from sluice.offsets.ranges import OffsetRange, merged
from sluice.offsets.resets import LANES, sequences_up_to
from sluice.operations.backfill.readable import ClippedRanges, plan_reread
from sluice.progress.erased import require_consent
from sluice.progress.lacking_rows import lacking_rows
from sluice.progress.lane_state import LaneState, read_untrusted
from sluice.progress.quarantine_trust import known_quarantine
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.progress.set_aside import mixed_with_others, names_of_others, uncommitted_attempts
from sluice.progress.unaltered import check_rows_of_data
from sluice.progress.untold_deletions import may_come_back
from sluice.protocol.plan.lacking_in_kafka import lacking_in_kafka
from sluice.protocol.plan.write_plan import write_plan
from sluice.tables.offsets_appends import append_drop
from sluice.tables.ownership import OWNER
from sluice.tables.quarantine_creation import replace_quarantine
from sluice.tables.quarantine_table import NO_QUARANTINE, Attempts
from sluice.tables.storage import set_aside

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class QuarantineRecovery:
    """What a recovery does, or would do: offsets to read again, and losses to record.

    `creates` says whether the table is another one from then on, `sets_aside` whether one in its
    place is renamed first, and `closes` whether an older copy of it is closed again. `removes` are
    the batches of which rows go that others have brought back or added, and `strangers` what such
    rows name that are of no batch of ours; "" for nothing. `coming_back` are rows that others
    deleted, or may have, among what is read `again`. `work` is what is to be landed once it is
    `done`.
    """

    pipeline: str
    creates: bool = False
    sets_aside: bool = False
    closes: bool = False
    removes: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    again: tuple[OffsetRange, ...] = ()
    losses: tuple[Loss, ...] = ()
    coming_back: tuple[str, ...] = ()
    work: BatchReference | None = None
    done: bool = False

    def __bool__(self) -> bool:
        goes = self.removes or self.strangers
        return self.creates or self.closes or bool(goes or self.again or self.losses)


def preview_quarantine_recovery(resources: PipelineResources) -> QuarantineRecovery:
    """What a recovery would do; nothing is written. Falsy where nothing is gone.

    Raises TableRefused where the data table is not the one that was written to, SpecError where the
    spec no longer names a topic of which Kafka holds what is gone.
    """
    return _decide(resources, LossCause(LossKind.ASIDE_GONE, actor=""))


def recover_quarantine(
    resources: PipelineResources, reason: str, origin: Origin, bring_back_erased: bool = False
) -> QuarantineRecovery:
    """Carry the recovery out. Raises as its preview, and what `plan` raises.

    And RowsErased where rows would come back that others deleted, or may have, and are not to.
    """
    cause = LossCause(LossKind.ASIDE_GONE, origin.actor, reason)
    decided = _decide(resources, cause)
    _require_allowed(decided.pipeline, decided.coming_back, bring_back_erased)
    if decided.creates:
        _replace(resources, origin)
        reach("quarantine replaced")
    crossed = f"{resources.spec.pipeline}: {{times}} another process wrote meanwhile. Run again."
    until_it_lands(resources, lambda: _record(resources, cause, origin), crossed)
    decide_plan = partial(_plan_again, resources, bring_back_erased)
    written = write_plan(resources, origin, "backfill", decide_plan, _read_data_trusted)
    until_it_lands(resources, lambda: _close(resources), crossed)
    return replace(decided, work=written.work, done=True)


def _read_data_trusted(resources: PipelineResources, lane: Lane = "forward") -> LaneState:
    """The state of a lane, whatever the quarantine table is."""
    state = read_untrusted(resources, lane)
    state.known.require(state.data)
    check_rows_of_data(state)
    return state


def _decide(resources: PipelineResources, cause: LossCause) -> QuarantineRecovery:
    state = _read_data_trusted(resources)
    creates, sets_aside = bool(_missing(state)), _goes_aside(state)
    if sets_aside:
        # Nothing of it stays.
        state = replace(state, quarantine=NO_QUARANTINE)
    split = lacking_in_kafka(resources, state)
    again = [each for part in split for each in part.again]
    losses = tuple(loss for each in split for loss in each.losses(cause))
    more = uncommitted_attempts(state)
    _require_own_rows_kept(state, more, losses)
    return QuarantineRecovery(
        state.pipeline,
        creates=creates,
        sets_aside=sets_aside,
        closes=bool(known_quarantine(state).opened(state.quarantine)),
        removes=tuple(sorted(more)),
        strangers=tuple(names_of_others(state)),
        again=tuple(merged(each.offsets for each in again)),
        losses=losses,
        coming_back=tuple(may_come_back(state, again)),
    )


def _require_own_rows_kept(state: LaneState, more: Attempts, losses: Sequence[Loss]) -> None:
    """Raises TableRefused where rows would go that Kafka cannot deliver again, and may be right."""
    mixed = mixed_with_others(state, more)
    gone = [
        f"{each.offsets} of {each.dropped_from}" for each in losses if each.dropped_from in mixed
    ]
    if gone:
        raise TableRefused(
            f"{state.quarantine.uri}: others have added rows that cannot be told from the batch's"
            f" own, and Kafka does not hold all of these any more: expected {', '.join(gone)} to be"
            " kept. Nothing was changed. RESTORE the table to before they were added; or DELETE the"
            " rows that were, by their `_batch` and `_offset`, and run again."
        )


def _require_allowed(pipeline: str, lines: Sequence[str], bring_back: bool) -> None:
    otherwise = (
        "what is not to stay, delete it from the data table once more behind that. Or bring the"
        " quarantine table back as it was."
    )
    allowed = Move(
        "quarantine recover", (pipeline, "--bring-back-erased", "--execute", "--reason", YOUR_WORDS)
    )
    require_consent(pipeline, lines, bring_back, allowed, otherwise)


def _missing(state: LaneState) -> set[str]:
    """The tables that plans and receipts of either lane name, and this one does not replace."""
    lanes = map(state.in_lane, LANES)
    named = {each for lane in lanes for each in known_quarantine(lane).table_ids}
    return named - {state.quarantine.table_id, *state.quarantine.replaced}


def _goes_aside(state: LaneState) -> bool:
    """Whether the table in place is not this pipeline's, and not the one that plans name."""
    found = state.quarantine
    owner = found.settings.properties.get(OWNER)
    return found.table_id is not None and owner != state.pipeline and bool(_missing(state))


def _replace(resources: PipelineResources, origin: Origin) -> None:
    state = _read_data_trusted(resources)
    uri = state.quarantine.uri
    others = {*_missing(state), *state.quarantine.replaced}
    if _goes_aside(state):
        log.warning("%s: now at %s", uri, set_aside(uri, origin.at))
    replace_quarantine(uri, state.pipeline, others)


def _record(resources: PipelineResources, cause: LossCause, origin: Origin) -> None:
    """Tell as lost what neither the table nor Kafka holds."""
    state = _read_data_trusted(resources)
    losses = tuple(
        loss for each in lacking_in_kafka(resources, state) for loss in each.losses(cause)
    )
    if not losses:
        return
    for each in losses:
        log.warning("%s of %s: recorded as lost", each.offsets, each.dropped_from)
    cluster = state.history.cluster_id
    decision = Drop(state.sequence, cluster, chosen=(), losses=losses, rows=())
    append_drop(state.snapshot, decision, origin)
    reach("drop recorded")


def _plan_again(resources: PipelineResources, bring_back: bool, lane: LaneState) -> Plan:
    kafka, forward = resources.kafka.state(resources.spec), _read_data_trusted(resources)
    split = lacking_in_kafka(resources, forward)
    again = [each for part in split for each in part.again]
    # Once more: others may have deleted some since it was decided.
    _require_allowed(lane.pipeline, list(may_come_back(forward, again)), bring_back)
    ranges = ClippedRanges(tuple(merged(each.offsets for each in again)))
    return plan_reread(resources.spec, lane.history, lane.unfinished, ranges, kafka)


def _close(resources: PipelineResources) -> None:
    """Close what is open, one sequence after the other. Raises CommitConflict.

    Closes nothing if more is gone by now than was decided about: the next command finds it.
    """
    state = _read_data_trusted(resources)
    if names := names_of_others(state):
        state.quarantine.remove_others(names)
    if lacking := lacking_rows(_read_data_trusted(resources)):
        log.warning("more is gone: %s", "; ".join(map(str, lacking)))
        return
    while found := next(_open_sequences(state := _read_data_trusted(resources)), None):
        state.quarantine.use(*found[:2], resources.clock.now(), found[2])


def _open_sequences(state: LaneState) -> Iterator[tuple[BatchSequence, int, Attempts]]:
    """The sequences to close, the oldest first: at which number, and whose rows go with it."""
    if state.quarantine.version is None:
        return
    more = uncommitted_attempts(state)
    for sequence in sequences_up_to(state.pipeline, state.generation):
        number = _closing(state, sequence)
        names = [e for e in more if parse_batch(state.pipeline, e)[0] == sequence]
        if number and (names or state.quarantine.number(sequence) < number):
            yield sequence, number, {each: more[each] for each in names}


def _closing(state: LaneState, sequence: BatchSequence) -> int:
    """The number that closes all that is settled of a sequence; 0 where nothing is."""
    if sequence.generation < state.generation:
        return FENCED if state.snapshot.planned(sequence) else 0
    settled = state.snapshot.settled(sequence)
    return closing_number(settled) if settled else 0
