"""State news: what has changed in a state table since an event, by its own log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sluice.progress.resources import PipelineResources
from sluice.state_table.counts import StateCounts, together

_TABLE, _VERSION = "state_table_id", "state_version"


@dataclass(frozen=True)
class StateNews:
    """The state table by its Delta id and version, the version of the log that it stands at.

    `counts` are those of the commits that are news.
    """

    table_id: str
    version: int
    data_version: int
    counts: StateCounts

    def __str__(self) -> str:
        return f"stands at version {self.data_version} of the data table: {self.counts}"

    def as_dict(self) -> dict[str, Any]:
        """For an asset event's `extra`."""
        at = {_TABLE: self.table_id, _VERSION: self.version, "data_version": self.data_version}
        return {**at, **self.counts.as_dict()}


def state_news(resources: PipelineResources, told: Mapping[str, Any]) -> StateNews | None:
    """What has changed since an earlier `as_dict`, {} for none; None where no row has.

    Without an earlier one of this table, the newest commit is the news.
    """
    table = resources.state.snapshot()
    table_id, before = table.table_id, told.get(_VERSION)
    if table_id is None or table.version is None or table.stands_at is None:
        return None
    if told.get(_TABLE) == table_id and isinstance(before, int):
        found = list(table.commits(before))
    else:
        found = list(islice(table.commits(-1), 1))
    commits = [each.commit for each in found if each.commit is not None]
    counts = together(each.counts for each in commits)
    if not counts.changed and all(each.kind != "everything" for each in commits):
        return None
    return StateNews(table_id, table.version, table.stands_at, counts)
