"""Commits: the lines of a table's log, written put-if-absent as the next version."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from sluice.clock import Chance, Clock
from sluice.errors import CommitConflict
from sluice.lake.write_failures import another_log, predecessor_missing
from sluice.tables.judged_marks import digest_of

from tests.worlds.written_lake.conflicts import NO_BASIS, Basis, conflict
from tests.worlds.written_lake.data_files import dashed
from tests.worlds.written_lake.moments import milliseconds

_INTERVAL = "delta.checkpointInterval"


@dataclass(frozen=True)
class Draft:
    """What is to be committed. `based_on` is the version that it was made from, -1 for none."""

    uri: str
    based_on: int
    operation: str
    parameters: Mapping[str, Any]
    actions: Sequence[Mapping[str, Any]] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)
    user_metadata: str | None = None
    blind: bool = True
    isolation: str = "Serializable"
    basis: Basis = NO_BASIS


class Committer:
    """Commits drafts, at the clock's time and under names that chance gives."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock = clock
        self._chance = chance

    def commit(self, draft: Draft) -> int:
        """The version that it has become. Raises CommitConflict as Delta does."""
        checked, version = draft.based_on, draft.based_on + 1
        while not self._put(draft, version):
            newest = newest_version(draft.uri)
            for each in range(checked + 1, newest + 1):
                if found := conflict(draft.basis, actions_of(draft.uri, each)):
                    raise CommitConflict(f"another commit came in between ({found})")
            checked, version = newest, newest + 1
        return version

    def _put(self, draft: Draft, version: int) -> bool:
        log = Path(draft.uri, "_delta_log")
        _require_predecessor(log, version)
        _require_same_log(log, version, draft.user_metadata)
        log.mkdir(parents=True, exist_ok=True)
        now = self._clock.now()
        lines = [{"commitInfo": self._info(draft, milliseconds(now))}, *draft.actions]
        text = "".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in lines)
        final = log / f"{version:020d}.json"
        unfinished = log / f".{final.name}.{self._chance.name()}.tmp"
        unfinished.write_text(text, encoding="utf-8")
        os.utime(unfinished, (now.timestamp(), now.timestamp()))
        try:
            os.link(unfinished, final)
        except FileExistsError:
            return False
        finally:
            unfinished.unlink()
        self._checkpoint(draft, version)
        return True

    def _info(self, draft: Draft, now: int) -> dict[str, Any]:
        based_on = {"readVersion": draft.based_on} if draft.based_on >= 0 else {}
        told = {} if draft.user_metadata is None else {"userMetadata": draft.user_metadata}
        return {
            "timestamp": now,
            "operation": draft.operation,
            "operationParameters": dict(draft.parameters),
            **based_on,
            "isolationLevel": draft.isolation,
            "isBlindAppend": draft.blind,
            "operationMetrics": {key: str(value) for key, value in draft.metrics.items()},
            **told,
            "engineInfo": "written lake",
            "txnId": dashed(self._chance.name()),
        }

    def _checkpoint(self, draft: Draft, version: int) -> None:
        """Every so many versions, as Spark; like it, it does without where that fails."""
        if version % 10 or not version:
            return
        with suppress(Exception):
            table = DeltaTable(draft.uri)
            every = int(table.metadata().configuration.get(_INTERVAL, "10"))
            if version % every == 0:
                table.create_checkpoint()


def _require_predecessor(log: Path, version: int) -> None:
    """As the product's log stores do in Spark's JVM."""
    before = f"{version - 1:020d}"
    if version and not (log / f"{before}.json").exists() and not any(log.glob(f"{before}.check*")):
        raise predecessor_missing(f"{log}/{version:020d}.json")


def _require_same_log(log: Path, version: int, told: str | None) -> None:
    """As they do, too, for a commit that says what it is based on."""
    based_on = json.loads(told or "{}").get("sluice", {}).get("based_on")
    if based_on is None:
        return
    digest = digest_of(DeltaTable(log.parent), based_on["version"], "")
    if version <= based_on["version"] or digest not in (None, based_on["digest"]):
        raise another_log(f"{log}/{version:020d}.json")


def newest_version(uri: str) -> int:
    """The newest version in a table's log."""
    return max(int(each.stem) for each in Path(uri, "_delta_log").glob(f"{'[0-9]' * 20}.json"))


def actions_of(uri: str, version: int) -> list[dict[str, Any]]:
    """The actions of one commit."""
    # As bytes: to a text, more ends a line than a line break.
    written = Path(uri, "_delta_log", f"{version:020d}.json").read_bytes()
    return [json.loads(line) for line in written.splitlines()]
