"""Conflicts: which commits, landed after the version that a write is based on, refuse it.

As Delta's ConflictChecker does for a Serializable table, which a table of open-source Delta is.
A commit that changes no row (OPTIMIZE, VACUUM) does not mind rows that were added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Action = Mapping[str, Any]
MayBeIn = Callable[[Mapping[str, str | None]], bool]


@dataclass(frozen=True)
class Basis:
    """What a write rests on.

    `app_id` is its transaction id; `may_be_in` says whether rows that it has read, or has not
    found, may lie in a partition (None: it reads no rows). `read` and `removed` are files' paths.
    """

    app_id: str | None = None
    may_be_in: MayBeIn | None = None
    read: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


NO_BASIS = Basis()


def everywhere(_: Mapping[str, str | None]) -> bool:
    """For a write that reads the whole table."""
    return True


def conflict(basis: Basis, landed: Iterable[Action]) -> str | None:
    """The name of the conflict with a commit that has landed since; None where there is none."""
    actions = list(landed)
    gone = {each["remove"]["path"] for each in actions if "remove" in each}
    if any("protocol" in each for each in actions):
        return "DELTA_PROTOCOL_CHANGED"
    if any("metaData" in each for each in actions):
        return "DELTA_METADATA_CHANGED"
    if basis.may_be_in is not None and any(
        basis.may_be_in(each["add"].get("partitionValues", {})) for each in actions if "add" in each
    ):
        return "DELTA_CONCURRENT_APPEND"
    if gone & basis.read:
        return "DELTA_CONCURRENT_DELETE_READ"
    if gone & basis.removed:
        return "DELTA_CONCURRENT_DELETE_DELETE"
    if any(basis.app_id == each["txn"]["appId"] for each in actions if "txn" in each):
        return "DELTA_CONCURRENT_TRANSACTION"
    return None
