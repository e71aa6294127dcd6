"""VACUUM: deleting the files that a table has not referenced for its retention."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from sluice.clock import Clock
from sluice.tables.retention import PROPERTY, retention

from tests.worlds.written_lake.commit import Committer, Draft, actions_of
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.state import TableState


def vacuum(state: TableState, clock: Clock, committer: Committer) -> None:
    """Delete them, between two commits that say so."""
    kept_for = retention(state.uri, state.properties.get(PROPERTY))
    before = clock.now() - kept_for
    needed = {unquote(each.path) for each in state.files} | _removed_since(state.uri, before)
    old = [each for each in _files(state.uri, before) if each not in needed]
    size = sum(Path(state.uri, each).stat().st_size for each in old)
    milli = int(kept_for.total_seconds() * 1000)
    begun = committer.commit(
        Draft(
            state.uri,
            state.version,
            "VACUUM START",
            {"retentionCheckEnabled": True, "defaultRetentionMillis": milli},
            metrics={"numFilesToDelete": len(old), "sizeOfDataToDelete": size},
            isolation="SnapshotIsolation",
        )
    )
    for each in old:
        Path(state.uri, each).unlink(missing_ok=True)
    committer.commit(
        Draft(
            state.uri,
            begun,
            "VACUUM END",
            {"status": "COMPLETED"},
            metrics={"numDeletedFiles": len(old), "numVacuumedDirectories": 1},
            isolation="SnapshotIsolation",
        )
    )


def _files(uri: str, before: datetime) -> Iterator[str]:
    """What lies in the table's folder since before a moment, but for hidden folders."""
    for folder, folders, names in os.walk(uri):
        folders[:] = [each for each in folders if not each.startswith(("_", ".")) or "=" in each]
        for name in names:
            path = Path(folder, name)
            if datetime.fromtimestamp(path.stat().st_mtime, UTC) < before:
                yield str(path.relative_to(uri))


def _removed_since(uri: str, moment: datetime) -> set[str]:
    since = milliseconds(moment)
    found = set()
    for each in Path(uri, "_delta_log").glob(f"{'[0-9]' * 20}.json"):
        for action in actions_of(uri, int(each.stem)):
            removed = action.get("remove", {})
            if removed.get("deletionTimestamp", 0) >= since:
                found.add(unquote(removed["path"]))
    found.discard("")
    return found
