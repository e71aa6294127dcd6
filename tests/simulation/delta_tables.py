"""Delta tables as the oracle reads them: the commits as JSON, the files as Parquet, each once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq

Row = dict[str, Any]
Action = dict[str, Any]
FENCE = 2**63 - 1


@dataclass(frozen=True)
class Table:
    """A table at its newest version; -1 where there is none.

    `landed` says whether any of its commits is a batch's: each has a transaction, below a fence's.
    """

    version: int
    table_id: str | None
    files: dict[str, dict[str, str | None]]
    transactions: dict[str, int]
    rows: tuple[Row, ...]
    landed: bool = False


NO_TABLE = Table(-1, None, {}, {}, ())


@dataclass
class Reader:
    """Reads tables below a folder; what was read once is kept."""

    _commits: dict[tuple[str, int, int], list[dict[str, Any]]] = field(default_factory=dict)
    _rows: dict[tuple[str, int, int], list[Row]] = field(default_factory=dict)
    _tables: dict[str, tuple[object, Table]] = field(default_factory=dict)

    def read(self, folder: Path) -> Table:
        """The table at its newest version."""
        log = folder / "_delta_log"
        if not log.is_dir():
            return NO_TABLE
        commits = sorted(log.glob("*.json"))
        marks = [(each.name, *_mark(each)) for each in commits]
        known = self._tables.get(str(folder))
        if known is not None and known[0] == marks and not self._changed(folder, known[1]):
            return known[1]
        table = self._replay(folder, commits)
        self._tables[str(folder)] = marks, table
        return table

    def read_at(self, folder: Path, version: int) -> Table | None:
        """The table at a version; None where a file of that version is gone."""
        commits = sorted((folder / "_delta_log").glob("*.json"))
        table = self._replay(folder, [each for each in commits if int(each.stem) <= version])
        if table.version != version or not all((folder / each).exists() for each in table.files):
            return None
        return table

    def actions_of(self, folder: Path) -> Iterator[tuple[int, tuple[object, ...], list[Action]]]:
        """The commits of a table, oldest first: version, what tells one from another, actions."""
        for path in sorted((folder / "_delta_log").glob("*.json")):
            yield int(path.stem), (path.name, *_mark(path)), self._actions(path)

    def _changed(self, folder: Path, table: Table) -> bool:
        return any(
            (str(folder / each), *_mark(folder / each)) not in self._rows for each in table.files
        )

    def _replay(self, folder: Path, commits: list[Path]) -> Table:
        table_id, version, landed = None, -1, False
        files: dict[str, dict[str, str | None]] = {}
        transactions: dict[str, int] = {}
        for path in commits:
            version = int(path.stem)
            for action in self._actions(path):
                if meta := action.get("metaData"):
                    table_id = meta["id"]
                elif txn := action.get("txn"):
                    transactions[txn["appId"]] = txn["version"]
                    landed |= txn["version"] < FENCE
                elif gone := action.get("remove"):
                    files.pop(_relative(folder, gone["path"]), None)
                elif add := action.get("add"):
                    files[_relative(folder, add["path"])] = add.get("partitionValues") or {}
        rows = [
            row | values for name, values in files.items() for row in self._rows_of(folder / name)
        ]
        return Table(version, table_id, files, transactions, tuple(rows), landed)

    def _actions(self, path: Path) -> list[dict[str, Any]]:
        key = (str(path), *_mark(path))
        if key not in self._commits:
            lines = path.read_text(encoding="utf-8").splitlines()
            self._commits[key] = [json.loads(line) for line in lines if line.strip()]
        return self._commits[key]

    def _rows_of(self, path: Path) -> list[Row]:
        if not path.exists():
            return []
        key = (str(path), *_mark(path))
        if key not in self._rows:
            self._rows[key] = pq.ParquetFile(path).read().to_pylist()
        return self._rows[key]


def _mark(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _relative(folder: Path, path: str) -> str:
    plain = unquote(urlparse(path).path)
    return plain.removeprefix(f"{folder}/")


def versions(folder: Path) -> Iterator[int]:
    """The versions that a table's log has as files."""
    return (int(each.stem) for each in sorted((folder / "_delta_log").glob("*.json")))
