"""State commits: what a commit of a state table says of itself, in its `userMetadata`. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sluice.state_table.counts import NOTHING, StateCounts
from sluice.state_table.spans import Kind

FORMAT_VERSION = 1
_COLLECTED = "collected"
REBUILDING = -1
"""The version at which a state table stands while it is built anew: none."""


def app_id(pipeline: str) -> str:
    """The transaction id of a pipeline's state table; its version is one of the log."""
    return f"sluice:{pipeline}:state"


@dataclass(frozen=True)
class RowPlace:
    """Where a row of the log is."""

    topic_id: str
    partition: int
    offset: int


@dataclass(frozen=True)
class StateCollection:
    """A commit that took deleted keys away: the log by its Delta id, the version it was based on.

    It has no transaction id, as the table stands where it stood.
    """

    data_table_id: str
    state_version: int

    @property
    def text(self) -> str:
        """As JSON."""
        said = {"format_version": FORMAT_VERSION, "kind": _COLLECTED, **asdict(self)}
        return json.dumps(said)

    @classmethod
    def read(cls, text: str | None) -> StateCollection | None:
        """Read back what `text` says; None for anything else."""
        if (found := _document(text)) is None:
            return None
        names = {each.name for each in fields(cls)}
        if found.pop("kind", None) != _COLLECTED or found.keys() != names:
            return None
        return cls(**found) if isinstance(found["state_version"], int) else None


@dataclass(frozen=True)
class StateCommit:
    """A commit: the log by its Delta id, the span that it followed, the rules, what it did.

    `log_commit` is what the log's commit of `data_version` is known by: a number alone would also
    be that of another copy. `state_version` is the version of the state table that it was based on;
    None for its first one. `truncation` is the greatest truncation of the log at `data_version`;
    None if it has none.
    """

    data_table_id: str
    after: int
    data_version: int
    digest: str
    kind: Kind
    state_version: int | None
    log_commit: int | None
    counts: StateCounts = NOTHING
    truncation: RowPlace | None = None

    def counted(self, counts: StateCounts) -> StateCommit:
        """The same with what it did."""
        return replace(self, counts=counts)

    @property
    def text(self) -> str:
        """As JSON."""
        said = asdict(self)
        counts = said.pop("counts")
        if self.truncation is None:
            del said["truncation"]
        return json.dumps({"format_version": FORMAT_VERSION, **said, **counts})

    @classmethod
    def read(cls, text: str | None) -> StateCommit | None:
        """Read back what `text` says; None for anything else, of a newer format as well."""
        if (found := _document(text)) is None:
            return None
        try:
            counts = StateCounts(
                **{each.name: found.pop(each.name) for each in fields(StateCounts)}
            )
            truncation = found.pop("truncation", None)
            place = None if truncation is None else RowPlace(**truncation)
            return cls(**found, counts=counts, truncation=place)
        except (KeyError, TypeError, ValueError):
            return None


def _document(text: str | None) -> dict[str, Any] | None:
    """What a JSON text of the known format holds; None for anything else, a newer format too."""
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop("format_version", None) != FORMAT_VERSION:
        return None
    return found
