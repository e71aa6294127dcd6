"""State history: the newest refreshes of a state table, as its own log tells them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sluice.errors import SluiceError
from sluice.progress.resources import PipelineResources
from sluice.state_table.commits import StateCommit


@dataclass(frozen=True)
class StateRefresh:
    """A version of the state table that a refresh or a rebuild made: what it says, and when.

    `at` is by the writer's clock; None where the commit does not say.
    """

    version: int
    told: StateCommit
    at: datetime | None

    @property
    def followed(self) -> str:
        """The versions of the data table that it followed; `all of` one for a table made anew."""
        after, upto = self.told.after, self.told.data_version
        if self.told.kind == "everything":
            return f"all of version {upto}"
        return f"version {upto}" if after + 1 == upto else f"versions {after + 1} to {upto}"


@dataclass(frozen=True)
class StateHistory:
    """The newest refreshes, latest last; or why they are `unknown`."""

    refreshes: tuple[StateRefresh, ...] = ()
    unknown: str = ""


def read_state_history(resources: PipelineResources, newest: int) -> StateHistory | None:
    """At most `newest` refreshes; None for a pipeline without a state table.

    What keeps the table from being read is in it, and not an error.
    """
    if resources.spec.state is None:
        return None
    try:
        return StateHistory((*islice(_refreshes(resources), newest),)[::-1])
    except SluiceError as problem:
        return StateHistory(unknown=str(problem))


def _refreshes(resources: PipelineResources) -> Iterator[StateRefresh]:
    for each in resources.state.snapshot().versions():
        if each.commit is not None:
            yield StateRefresh(each.version, each.commit, each.at)
