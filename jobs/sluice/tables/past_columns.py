"""Past columns: those that a table had when its newest batch landed, and who took them away since.

Asked only where a declared column is not there: it is a new one, or one that others dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from deltalake.exceptions import DeltaError

from sluice.columns.columns import Column
from sluice.columns.names import written
from sluice.columns.type_changes import new_columns
from sluice.tables.commits import commit_infos
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.stored_columns import stored_columns
from sluice.tables.table_files import answered, open_table

_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")


@dataclass(frozen=True)
class LostColumn:
    """A declared column, with its type, that others dropped, or renamed to `now`.

    `by` is the commit that did it, in words.
    """

    name: str
    kind: str
    by: str
    now: str = ""

    def __str__(self) -> str:
        what = f"renamed {self.now}" if self.now else "took away"
        return f"{self.name} {self.kind}, which {self.by} {what}"


def lost_columns(data: DeltaSnapshot, declared: Iterable[Column]) -> list[LostColumn]:
    """The declared columns that the table had at its newest batch and lacks now.

    None if its log has lost that version: they are unknown then.
    """
    wanted = tuple(declared)
    lacking = new_columns(data.columns, wanted)
    standing = data.log.batches_in_effect() if lacking else []
    landed = next((each.version for each in standing), None)
    before = None if landed is None else _columns_at(data.uri, landed)
    if landed is None or before is None:
        return []
    new = {*new_columns(before, wanted)}
    return [_taken_away(data, landed, wanted, each) for each in lacking if each not in new]


def _columns_at(uri: str, version: int) -> tuple[Column, ...] | None:
    try:
        with answered(uri):
            return stored_columns(open_table(uri, version))
    except (DeltaError, OSError):
        return None


def _taken_away(
    data: DeltaSnapshot, landed: int, wanted: Iterable[Column], lost: str
) -> LostColumn:
    """Who did it: a commit since then, at which the column is not there."""
    name, kind = lost.split(" ", 1)
    low, high = landed, data.version or landed
    while high - low > 1:
        middle = (low + high) // 2
        there = _columns_at(data.uri, middle)
        lacks = there is None or lost in new_columns(there, wanted)
        low, high = (low, middle) if lacks else (middle, high)
    _, info = next(commit_infos(open_table(data.uri, high)), (high, {}))
    operation, told = info.get("operation", "WRITE"), info.get("operationParameters") or {}
    now = _path(told.get("newColumnPath", "")) if _path(told.get("oldColumnPath")) == name else ""
    return LostColumn(name, kind, f"version {high} ({operation})", now)


def _path(told: str | None) -> str:
    """A column's path as Delta tells it, which quotes less, as SQL has it."""
    parts = _PART.findall(told or "")
    return ".".join(written(given.replace("``", "`") or plain) for given, plain in parts)
