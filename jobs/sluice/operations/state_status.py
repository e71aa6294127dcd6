"""State status: where a state table stands beside its log, and why it does not follow if it is so.

A pipeline without a state table has none, and reads nothing for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sluice.errors import SluiceError
from sluice.moves import Advice
from sluice.offsets.lag import age_at
from sluice.offsets.quantities import format_count, format_moment
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.state_trust import StateStanding, look, read_standing
from sluice.state_table.commits import REBUILDING, StateCommit
from sluice.state_table.spans import LogChange
from sluice.tables.log_changes import log_changes

# So many versions are read one by one: a status must not cost more with each that is left.
_MOST_READ = 100


@dataclass(frozen=True)
class StateStatus:
    """A state table beside its data table.

    `stands_at` is a version of the data table; None where it stands at none. `behind` counts the
    later versions that changed rows, all of them before the first refresh, and `since` is when the
    oldest of them was committed; None where that is unknown. `last` is what the newest refresh said
    of itself. `refusal` is why the table is not trusted, with the next move; `unknown`, why it
    could not be read.
    """

    stands_at: int | None = None
    behind: int | None = None
    since: datetime | None = None
    last: StateCommit | None = None
    is_rebuilding: bool = False
    refusal: Advice | None = None
    unknown: str = ""

    @property
    def is_up_to_date(self) -> bool:
        """Whether it is the state of all that the data table has."""
        return self.behind == 0

    def age_at(self, moment: datetime) -> timedelta | None:
        """For how long it has been behind; zero where it is not, None where that is unknown."""
        return timedelta(0) if self.is_up_to_date else age_at(moment, self.since)

    def __str__(self) -> str:
        return "; ".join((self._standing, *([f"last refresh: {self._last}"] if self.last else [])))

    @property
    def _standing(self) -> str:
        if self.unknown:
            return f"unknown: {self.unknown}".rstrip(".")
        if self.refusal is not None:
            how = "being rebuilt, or stopped in it" if self.is_rebuilding else "refused"
            return f"{how}: {self.refusal}".rstrip(".")
        if self.stands_at is None:
            return "not made yet: the next run makes it, or says why not"
        at = f"at version {self.stands_at} of the data table"
        if self.behind == 0:
            return at
        versions = format_count(self.behind, "version")
        since = f" since {format_moment(self.since)} UTC" if self.since else ""
        return f"{at}, {versions} behind{since}: the next run follows, or says why not"

    @property
    def _last(self) -> str:
        assert self.last is not None, "the caller has looked"
        return str(self.last.counts)


def read_state_status(resources: PipelineResources, lane: LaneState) -> StateStatus | None:
    """The state table beside the lane's data table; None for a pipeline without one.

    What keeps it from being read is in it, and not an error.
    """
    if resources.spec.state is None:
        return None
    try:
        standing = read_standing(resources, lane.data, lane.snapshot)
        return state_status(look(resources)[1] if standing.refusal else standing)
    except SluiceError as problem:
        return StateStatus(unknown=str(problem))


def state_status(standing: StateStanding) -> StateStatus:
    """What a state table's standing is, with the versions of its log that it has yet to follow."""
    found = standing.found
    told = StateStatus(
        last=None if found is None else found.newest,
        is_rebuilding=found is not None and found.stands_at == REBUILDING,
        refusal=standing.refusal,
    )
    upto = standing.data.version
    if told.refusal is not None or told.is_rebuilding:
        return told
    if upto is None:
        return replace(told, behind=0)
    # One that was never made has all versions to follow.
    after = -1 if standing.stands_at is None else standing.stands_at
    behind, first = _unfollowed(standing, after, upto)
    since = None if first is None else standing.data.log.written_at(first)
    return replace(told, stands_at=standing.stands_at, behind=behind, since=since)


def _unfollowed(standing: StateStanding, after: int, upto: int) -> tuple[int, int | None]:
    """How many versions that changed rows are left, and the first of them; None where unknown.

    Each of those that are not read counts as one that did.
    """
    if after == upto:
        return 0, None
    read = min(upto, after + _MOST_READ)
    try:
        changes = log_changes(standing.data.uri, after, read)
    except FileNotFoundError:
        return upto - after, None
    changed = _changing(changes)
    first = changed[0] if changed else None
    return len(changed) + upto - read, first


def _changing(changes: Sequence[LogChange]) -> list[int]:
    return [each.version for each in changes if each.kind != "nothing"]
