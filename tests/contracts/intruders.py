"""Intruders: commits that others make, each a line or two of a table's log."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

Act = Callable[[], None]


def appends(table: Path, blind: bool = True, partition: Mapping[str, str] | None = None) -> Act:
    """A row lands: a copy of a data file of the table, of this partition."""
    source = next(each for each in table.rglob("part-*.parquet") if "_delta_log" not in each.parts)
    copy = table / "foreign.parquet"
    shutil.copy(source, copy)
    added = {
        "path": copy.name,
        "partitionValues": dict(partition or {}),
        "size": copy.stat().st_size,
        "modificationTime": 1,
        "dataChange": True,
        "stats": '{"numRecords":1}',
    }
    return commits(table, {"add": added}, blind=blind)


def records_a_transaction(table: Path, app_id: str, version: int) -> Act:
    """A transaction id lands."""
    return commits(table, {"txn": {"appId": app_id, "version": version}})


def changes_the_properties(table: Path) -> Act:
    """The table gets a property."""
    line = next(
        line
        for line in (table / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
        if line.startswith('{"metaData"')
    )
    changed = json.loads(line)
    changed["metaData"]["configuration"]["a"] = "b"
    return commits(table, changed, blind=False)


def removes_a_file(table: Path) -> Act:
    """The rows of a file go."""
    uri = DeltaTable(table).file_uris()[0]
    path = str(Path(uri.removeprefix("file://")).relative_to(table))
    removed = {"path": path, "deletionTimestamp": 1, "dataChange": True}
    return commits(table, {"remove": removed}, blind=False)


def commits(table: Path, *actions: Mapping[str, Any], blind: bool = True) -> Act:
    """These actions land as the next version."""
    log = table / "_delta_log"
    info = {"timestamp": 1, "operation": "WRITE", "isBlindAppend": blind, "operationParameters": {}}
    lines = [json.dumps(each) for each in ({"commitInfo": info}, *actions)]

    def act() -> None:
        newest = max(int(each.stem) for each in log.glob(f"{'[0-9]' * 20}.json"))
        with (log / f"{newest + 1:020d}.json").open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    return act
