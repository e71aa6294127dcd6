"""Rebuild: the state table made anew from the whole data table, in one commit.

Delta skips a commit whose transaction version is not above the stored one. So an empty commit says
first that the table stands at no version; a crash between the two leaves a table that is refused
until the next rebuild. Nothing is lost by it: all that the table has is in the data table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from sluice.errors import CommitConflict, SpecError, StateRefused
from sluice.failpoints import reach
from sluice.moves import Advice
from sluice.progress.state_trust import StateStanding, by_moving_away, is_of_others, look
from sluice.protocol.refresh.due_span import due_anew
from sluice.protocol.refresh.making import (
    Conflicted,
    FindLake,
    Followed,
    make,
    require_possible,
    until_alone,
)
from sluice.protocol.refresh.refresh import OpenState, opened_once
from sluice.state_table.commits import REBUILDING
from sluice.state_table.rules import StateRules
from sluice.tables.ownership import OWNER
from sluice.tables.table_size import TableSize

if TYPE_CHECKING:
    from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class Rebuild:
    """How the state table was found beside the data table, and what was done.

    `refusal` says why it is not trusted. It stands at a version of the data table, if it is, and
    has rows. `data_version` is None where there is no data table; `now` where there is no state
    table. `done` is None in a preview.
    """

    pipeline: str
    uri: str
    rules: StateRules
    refusal: Advice | None
    stands_at: int | None
    data_version: int | None
    data: TableSize
    now: TableSize | None
    done: Followed | None = None


def preview_rebuild(resources: PipelineResources) -> Rebuild:
    """What a rebuild would do; nothing is written. Raises as `rebuild`, before that is done."""
    _require_state(resources)
    lane, standing = look(resources)
    if lane.data.version is not None:
        _require_place(resources, standing)
    return Rebuild(
        pipeline=resources.spec.pipeline,
        uri=standing.table.uri,
        rules=standing.rules,
        refusal=standing.refusal,
        stands_at=standing.stands_at,
        data_version=lane.data.version,
        data=lane.data.size,
        now=None if standing.found is None else standing.table.size,
    )


def rebuild(resources: PipelineResources, open_state: OpenState) -> Rebuild:
    """Make the state table anew, and read back that nothing refuses it any more.

    Raises SpecError for a spec without a state table, StateRefused where another table is in its
    place or it is refused still, TableRefused for a data table that is not trusted; StateStopped,
    SparkFailed and CommitFailed as a refresh does.
    """
    found = preview_rebuild(resources)
    if found.data_version is None:
        return found
    with opened_once(open_state) as lake:
        done = until_alone(resources, partial(_rebuild, resources, lake))
    _, standing = look(resources)
    standing.require()
    return replace(found, done=done)


def _rebuild(resources: PipelineResources, lake: FindLake) -> Followed:
    lane, standing = look(resources)
    _require_place(resources, standing)
    if standing.refusal is None and not standing.is_new:
        # A table that is trusted is not given up for one that cannot be made.
        require_possible(resources, due_anew(lane, standing), lake())
    if not standing.is_new and standing.found and standing.found.stands_at != REBUILDING:
        try:
            standing.table.begin_rebuild(resources.clock.now())
        except CommitConflict as problem:
            raise Conflicted(f"{resources.state.uri}: {problem}. Run again.") from problem
        reach("state given up")
        lane, standing = look(resources)
    return make(resources, due_anew(lane, standing), lake)


def _require_state(resources: PipelineResources) -> None:
    if resources.spec.state is None:
        raise SpecError(
            f"{resources.spec.pipeline}: state: expected the columns of the key, found no such key"
            " in the spec: the pipeline has no state table. Write `state: {key: […]}` into it; the"
            " next run makes the table."
        )


def _require_place(resources: PipelineResources, standing: StateStanding) -> None:
    """Raises StateRefused where a rebuild may not overwrite the table in place."""
    pipeline, owner = resources.spec.pipeline, standing.table.owner
    if not is_of_others(standing.table, pipeline):
        return
    found = "none: Sluice did not make it" if owner is None else f"{owner!r}, whose table it is"
    raise StateRefused(
        f"{standing.table.uri}: expected property {OWNER} = {pipeline!r}, found {found}. ",
        by_moving_away(pipeline),
    )
