"""Logged files: data files as a commit names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LoggedFile:
    """A data file: its path as the log has it, URL-encoded, its bytes, and its rows if it says so.

    `partition` is the text of each partition column's value, by the column's physical name; None
    where the commit does not say, as one that removes a file need not.
    """

    path: str
    size: int
    partition: Mapping[str, str | None] | None
    rows: int | None = None


def logged_file(action: Mapping[str, Any]) -> LoggedFile:
    """The file of an `add` or a `remove`."""
    rows = json.loads(action.get("stats") or "{}").get("numRecords")
    return LoggedFile(action["path"], action.get("size") or 0, action.get("partitionValues"), rows)
