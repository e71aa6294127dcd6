"""State check: the state table, key by key, with the version of the log at which it stands.

This starts Spark, for pipelines with a state table alone, and reads the whole data table once.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from sluice.errors import SluiceError, StateStopped
from sluice.lake.port import StateAttempt, StateLake
from sluice.lake.spark_message import spark_message
from sluice.moves import Advice, Move, advice
from sluice.offsets.quantities import format_count
from sluice.operations.state_status import StateStatus, state_status
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.state_trust import StateStanding, look
from sluice.protocol.refresh.due_span import attempt_at, due_span
from sluice.protocol.refresh.making import require_possible
from sluice.protocol.refresh.refresh import OpenState, past_stops
from sluice.state_table.spans import whole
from sluice.tables.log_changes import columns_at

log = logging.getLogger(__name__)

_SHOWN = 10


@dataclass(frozen=True)
class StateVerdict:
    """A state table beside its log, compared at the version at which it stands.

    `differing` counts the keys with another row than the log says, None where none was compared,
    and `keys` are the first of them with what is wrong. `unordered` counts those that could not be
    compared, as nothing says any more which of their rows is newest. `deleted` counts its rows of
    deleted keys, which wait to be collected. `problem` is why the table is not exact, with the next
    move; one that is merely behind is.
    """

    status: StateStatus
    differing: int | None = None
    keys: tuple[str, ...] = ()
    deleted: int | None = None
    unordered: int = 0
    problem: Advice | None = None

    @property
    def is_exact(self) -> bool:
        """Whether it is the state of its version of the log, and nothing keeps it from going on."""
        return self.problem is None

    def __str__(self) -> str:
        found = str(self.status)
        if self.differing is not None:
            keys = format_count(self.differing, "key")
            found += f": {keys} differ from it" if self.differing else ": exact"
        if self.unordered:
            keys = format_count(self.unordered, "key")
            found += f"; {keys} not compared: nothing says which row is the newest"
        if self.deleted:
            found += f"; {format_count(self.deleted, 'deleted key')} not collected"
        return found


def check_state(resources: PipelineResources, open_state: OpenState) -> StateVerdict:
    """Compare a pipeline's state table with its log. Nothing is written.

    What keeps it from being compared is in the verdict.
    """
    try:
        lane, standing = look(resources)
        status = state_status(standing)
    except SluiceError as unknown:
        return StateVerdict(StateStatus(unknown=str(unknown)), problem=advice(unknown))
    if standing.refusal is not None:
        return StateVerdict(status, problem=standing.refusal)
    if lane.data.version is None or (standing.is_new and lane.data.is_empty):
        return StateVerdict(status)
    try:
        with open_state() as state:
            found = _compared(resources, lane, standing, status, state)
            return found if found.problem else _foreseen(resources, found, state)
    except SluiceError as refused:
        return StateVerdict(status, problem=advice("the state table was not compared: ", refused))
    except Exception as problem:
        return StateVerdict(status, problem=_not_compared(resources, standing, problem))


def _compared(
    resources: PipelineResources,
    lane: LaneState,
    standing: StateStanding,
    status: StateStatus,
    state: StateLake,
) -> StateVerdict:
    """With the rows of both tables, where it stands at a version."""
    if standing.stands_at is None:
        return StateVerdict(status)
    log.info("%s: comparing with version %d", standing.table.uri, standing.stands_at)
    found = state.differing(_attempt(lane, standing, standing.stands_at), _SHOWN)
    assert standing.table.version is not None, "it stands at a version"
    deleted = state.deleted(standing.table.version)
    verdict = StateVerdict(status, found.keys, found.shown, deleted, found.unordered)
    if not found.keys:
        return verdict
    named = format_count(found.keys, "key")
    why = advice(
        f"{standing.table.uri}: expected the newest row of each key of the data table at version"
        f" {standing.stands_at}, found {named} with another: {'; '.join(found.shown)}. ",
        Move("rebuild", (resources.spec.pipeline, "--execute")),
        " makes it anew from the data table.",
    )
    return replace(verdict, problem=why)


def _attempt(lane: LaneState, standing: StateStanding, at: int) -> StateAttempt:
    """The state as the whole log would make it at that version, beside the table as it was read."""
    return attempt_at(lane, standing, whole(at, at), columns_at(lane.data.uri, at))


def _foreseen(resources: PipelineResources, found: StateVerdict, state: StateLake) -> StateVerdict:
    """With what would stop the next refresh, if there is anything to follow."""
    due = due_span(resources)
    if due is None or not due.needs_spark:
        return found
    try:
        past_stops(resources, due, lambda each: require_possible(resources, each, state))
    except StateStopped as problem:
        return replace(found, problem=advice(problem))
    return found


def _not_compared(
    resources: PipelineResources, standing: StateStanding, problem: Exception
) -> Advice:
    return advice(
        f"{standing.table.uri}: expected to be compared with the data table, found that Spark"
        f" stopped: {spark_message(problem)}. ",
        Move("run", (resources.spec.pipeline,)),
        " brings it to the newest version, or says why not; if the files of the state table are at"
        " fault, ",
        Move("rebuild", (resources.spec.pipeline, "--execute")),
        " makes it anew.",
    )
