"""State trust: whether the state table is the one that Sluice left, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice.errors import StateRefused
from sluice.failpoints import reach
from sluice.moves import Advice, Move, advice
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.state_table.rules import StateRules
from sluice.state_table.standing import FoundLog, FoundState, differences
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.judged_marks import number_of
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.state_log import StateSnapshot

_READINGS = 5


@dataclass(frozen=True)
class StateStanding:
    """The state table as it was found, beside the data table at one version.

    `refusal` says why it is not the state of that log; None where it is, or is still to be made.
    """

    rules: StateRules
    data: DeltaSnapshot
    table: StateSnapshot
    found: FoundState | None
    is_known: bool
    refusal: Advice | None

    @property
    def is_new(self) -> bool:
        """Whether it has never had rows."""
        return self.found is None or self.found.is_new

    @property
    def stands_at(self) -> int | None:
        """The version of the data table at which it stands; None at none."""
        return None if self.refusal or self.is_new or self.found is None else self.found.stands_at

    @property
    def behind(self) -> int | None:
        """How many versions of the data table it has not followed; None where that is unknown."""
        if self.stands_at is None or self.data.version is None:
            return None
        return self.data.version - self.stands_at

    def require(self) -> None:
        """Raises StateRefused, with the way back, for a table that is not to be trusted."""
        if self.refusal is not None:
            raise StateRefused(self.refusal)


def require_rules(resources: PipelineResources) -> StateRules:
    """The rules of a pipeline that has a state table."""
    rules = resources.kept_spec.state_rules
    assert rules is not None, f"{resources.spec.pipeline} has no state table"
    return rules


def look(resources: PipelineResources) -> tuple[LaneState, StateStanding]:
    """The lane, and where the state table stands beside it; nothing is written.

    The state is read last. Others may have landed and refreshed in between, so what speaks against
    it counts only if nothing has moved meanwhile. Raises as `read_unchecked`.
    """
    lane = read_unchecked(resources)
    for _ in range(_READINGS):
        reach("state looked for")
        standing = read_standing(resources, lane.data, lane.snapshot)
        before, lane = lane, read_unchecked(resources) if standing.refusal else lane
        if _read_of(before) == _read_of(lane):
            break
    return lane, standing


def _read_of(lane: LaneState) -> tuple[int | None, int]:
    """What is read before the state table."""
    return lane.data.version, lane.snapshot.newest(lane.snapshot.state_app_id)


def read_standing(
    resources: PipelineResources, data: DeltaSnapshot, offsets: OffsetsSnapshot
) -> StateStanding:
    """Where the state table stands beside these; nothing is written."""
    rules, table = require_rules(resources), resources.state.snapshot()
    found, known = table.found(rules), offsets.newest(offsets.state_app_id)
    is_known = bool(known) and table.table_id is not None and number_of(table.table_id) == known
    at = None if found is None else found.stands_at
    there = None if at is None else data.log.digest(at, "")
    log = FoundLog(str(data.table_id), data.version or 0, there)
    why = list(_differences(resources, table, found, log, known))
    refusal = None
    if why:
        refusal = advice(f"{table.uri}: {'; '.join(why)}. ", _way_back(resources, table))
    return StateStanding(rules, data, table, found, is_known, refusal)


def _way_back(resources: PipelineResources, table: StateSnapshot) -> Advice:
    pipeline = resources.spec.pipeline
    if is_of_others(table, pipeline):
        return by_moving_away(pipeline)
    return advice(
        Move("rebuild", (pipeline,)),
        " shows how it is made anew from the data table, and does it with --execute: nothing is"
        " lost.",
    )


def by_moving_away(pipeline: str) -> Advice:
    """How a table that is not the pipeline's makes room for its own."""
    rebuild = Move("rebuild", (pipeline, "--execute"))
    return advice("Move it away; then ", rebuild, " makes the state table in its place.")


def is_of_others(table: StateSnapshot, pipeline: str) -> bool:
    """Whether a table is in its place that does not say that it is the pipeline's."""
    return table.table_id is not None and table.owner != pipeline


def _differences(
    resources: PipelineResources,
    table: StateSnapshot,
    found: FoundState | None,
    log: FoundLog,
    known: int,
) -> Iterator[str]:
    if found is None:
        if known:
            yield "expected the state table that Sluice made, found none"
        return
    if known and number_of(found.table_id) != known:
        yield "expected the state table that Sluice made, found another in its place"
    elif table.owner != resources.spec.pipeline:
        owner = "none" if table.owner is None else repr(table.owner)
        yield f"expected property sluice.pipeline = {resources.spec.pipeline!r}, found {owner}"
    else:
        yield from differences(found, log)
