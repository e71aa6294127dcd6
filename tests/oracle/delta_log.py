"""The log of a Delta table on a local path, replayed version by version with plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

from tests.oracle.violation import Unjudgeable

Actions = list[dict[str, Any]]


@dataclass(frozen=True)
class DataFile:
    path: str
    partition_values: tuple[tuple[str, str | None], ...] = ()
    # What Delta's log says of the rows that are deleted in it.
    vector: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Version:
    """What one commit did. Files that it both removes and adds again did not change."""

    number: int
    added: tuple[DataFile, ...]
    removed: tuple[str, ...]
    rewrites_rows: bool
    transactions: dict[str, int]
    info: dict[str, Any]

    @property
    def timestamp(self) -> int:
        return int(self.info.get("inCommitTimestamp") or self.info.get("timestamp") or 0)


@dataclass
class TableLog:
    """All versions that the log still tells; `base` is the number of a checkpoint, or -1.

    With `vectors` a file may have a deletion vector. A version does not say whether it got one.
    """

    root: Path
    vectors: bool = False
    base: int = -1
    base_files: dict[str, DataFile] = field(default_factory=dict)
    base_transactions: dict[str, int] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    files: dict[str, DataFile] = field(default_factory=dict)
    live: dict[str, DataFile] = field(default_factory=dict)
    transactions: dict[str, int] = field(default_factory=dict)
    schema: dict[str, Any] = field(default_factory=dict)
    in_files: dict[str, str] = field(default_factory=dict)
    partition_columns: tuple[str, ...] = ()
    # The names of all CHECK constraints that it ever had.
    constraints: set[str] = field(default_factory=set)
    table_id: str | None = None

    @property
    def exists(self) -> bool:
        return bool(self.schema)

    def live_at(self, number: int) -> set[str]:
        live = set(self.base_files)
        for version in self.versions:
            if version.number > number:
                break
            live.difference_update(version.removed)
            live.update(file.path for file in version.added)
        return live

    def apply(self, number: int, actions: Actions) -> None:
        self._accept_metadata(actions)
        added = {file.path: file for file in self._adds(actions)}
        removes = [action["remove"] for action in actions if "remove" in action]
        removed = [self._absolute(remove["path"]) for remove in removes]
        transactions = _transactions(actions)
        version = Version(
            number,
            tuple(file for path, file in added.items() if path not in self.live),
            tuple(path for path in removed if path in self.live and path not in added),
            any(remove.get("dataChange", True) for remove in removes),
            transactions,
            next((action["commitInfo"] for action in actions if "commitInfo" in action), {}),
        )
        self.versions.append(version)
        self.files.update(added)
        for path in version.removed:
            del self.live[path]
        self.live.update(added)
        self.transactions.update(transactions)

    def start_from_checkpoint(self, number: int, actions: Actions) -> None:
        self._accept_metadata(actions)
        self.base = number
        self.base_files = {file.path: file for file in self._adds(actions)}
        self.base_transactions = _transactions(actions)
        self.files, self.live = dict(self.base_files), dict(self.base_files)
        self.transactions = dict(self.base_transactions)

    def _adds(self, actions: Actions) -> Iterator[DataFile]:
        for add in (action["add"] for action in actions if action.get("add")):
            path = self._absolute(add["path"])
            vector = dict(add.get("deletionVector") or {})
            if vector and not self.vectors:
                raise Unjudgeable(f"{path}: deletion vectors are not read by this invariant")
            values = dict(add.get("partitionValues") or {})
            yield DataFile(path, tuple(sorted(values.items())), tuple(vector.items()))

    def _absolute(self, path: str) -> str:
        url = urlparse(path)
        if url.scheme not in ("", "file"):
            raise Unjudgeable(f"{path}: only local files are read by this oracle")
        return str(self.root / unquote(url.path))

    def _accept_metadata(self, actions: Actions) -> None:
        for meta in (action["metaData"] for action in actions if action.get("metaData")):
            settings = dict(meta.get("configuration") or {})
            if settings.get("delta.columnMapping.mode", "none") == "id":
                raise Unjudgeable(f"{self.root}: columns mapped by id are not read by this oracle")
            checks = (key for key in settings if key.startswith("delta.constraints."))
            self.constraints |= {key.removeprefix("delta.constraints.") for key in checks}
            self.table_id = meta["id"]
            fields = json.loads(meta["schemaString"])["fields"]
            named = "delta.columnMapping.physicalName"
            self.in_files = {f["name"]: f["metadata"].get(named, f["name"]) for f in fields}
            self.schema = {column["name"]: column["type"] for column in fields}
            self.partition_columns = tuple(meta.get("partitionColumns") or ())


def read_log(root: Path | str, upto: int | None = None, vectors: bool = False) -> TableLog:
    """The log up to a version, or all. A table that does not exist has no versions, no schema."""
    log = TableLog(Path(root).resolve(), vectors)
    folder = log.root / "_delta_log"
    commits = {int(p.stem): p for p in folder.glob("*.json") if p.stem.isdigit()}
    if not commits and not list(folder.glob("*.checkpoint*.parquet")):
        return log
    if 0 not in commits:
        log.start_from_checkpoint(*_oldest_checkpoint(folder, commits))
    if upto is not None and upto < log.base:
        raise Unjudgeable(f"{folder}: version {upto} is gone, {log.base} is the oldest")
    for number in sorted(number for number in commits if number > log.base):
        if upto is not None and number > upto:
            break
        if number != (log.versions[-1].number if log.versions else log.base) + 1:
            raise Unjudgeable(f"{folder}: version {number} does not follow the one before it")
        # As bytes: to a text, more ends a line than a line break.
        lines = commits[number].read_bytes().splitlines()
        log.apply(number, [json.loads(line) for line in lines if line.strip()])
    return log


def _oldest_checkpoint(folder: Path, commits: dict[int, Path]) -> tuple[int, Actions]:
    latest = max(commits, default=-1)
    numbers = {int(path.name[:20]) for path in folder.glob("*.checkpoint*.parquet")}
    for number in sorted(numbers):
        if all(later in commits for later in range(number + 1, latest + 1)):
            return number, _checkpoint_actions(folder, number)
    raise Unjudgeable(f"{folder}: neither version 0 nor a checkpoint with all later versions")


def _checkpoint_actions(folder: Path, number: int) -> Actions:
    actions: Actions = []
    for path in sorted(folder.glob(f"{number:020d}.checkpoint*.parquet")):
        table = pq.ParquetFile(path).read()
        if "sidecar" in table.column_names and table.column("sidecar").null_count < len(table):
            raise Unjudgeable(f"{path}: checkpoints of version 2 are not read by this oracle")
        actions += [{k: v for k, v in row.items() if v} for row in table.to_pylist()]
    return actions


def _transactions(actions: Actions) -> dict[str, int]:
    return {a["txn"]["appId"]: int(a["txn"]["version"]) for a in actions if a.get("txn")}
