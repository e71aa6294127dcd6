"""Observed: what a lake has left in a table, and what the product reads of it.

Left out is what no two writers share: file names and sizes, times, ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from sluice.offsets.batches import Batch
from sluice.tables.batch_commits import batch_sizes
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.delta_log import DeltaLog

# A MERGE has some twenty more metrics, and an OPTIMIZE the quartiles of its files' sizes.
_METRICS = {
    *("numFiles", "numOutputRows", "numRemovedFiles", "numCopiedRows", "numDeletedRows"),
    *("numAddedChangeFiles", "numAddedFiles", "numTargetRowsCopied", "numTargetRowsDeleted"),
    *("numTargetFilesAdded", "numTargetFilesRemoved", "numFilesToDelete", "numDeletedFiles"),
}
_SIZES = {"numOutputBytes", "numRemovedBytes"}

Told = Mapping[str, Any]


def observed(table: Path, batches: Iterable[Batch] = ()) -> Told:
    """All of a table that can be compared; {} where there is none."""
    if not DeltaLog(str(table)).exists():
        return {}
    found = DeltaTable(table)
    rows = found.to_pyarrow_table()
    log = sorted((table / "_delta_log").glob(f"{'[0-9]' * 20}.json"))
    return {
        "types": [(each.name, str(each.type)) for each in rows.schema],
        "rows": sorted(rows.to_pylist(), key=str),
        "commits": [_commit(each) for each in log],
        "checkpoints": len(list((table / "_delta_log").glob("*.checkpoint.parquet"))),
        "read": _read(str(table), batches),
    }


def _commit(file: Path) -> Told:
    actions = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    named = [next(iter(each.items())) for each in actions]
    return {
        "info": [_info(each) for kind, each in named if kind == "commitInfo"],
        "ids": [(each["appId"], each["version"]) for kind, each in named if kind == "txn"],
        "metadata": [_metadata(each) for kind, each in named if kind == "metaData"],
        "protocol": [each for kind, each in named if kind == "protocol"],
        "added": sorted((_file(each) for kind, each in named if kind == "add"), key=str),
        "removed": sorted((_file(each) for kind, each in named if kind == "remove"), key=str),
    }


def _info(found: Told) -> Told:
    metrics = found.get("operationMetrics", {})
    parameters = {key: _parsed(value) for key, value in found["operationParameters"].items()}
    if found["operation"] == "MERGE":
        # Spark numbers the columns of its predicate.
        parameters = {"matchedPredicates": parameters["matchedPredicates"]}
    return {
        "operation": found["operation"],
        "parameters": parameters,
        "metrics": {key: value for key, value in metrics.items() if key in _METRICS},
        "sizes": sorted(key for key in metrics if key in _SIZES),
        "userMetadata": _without_digest(_parsed(found.get("userMetadata"))),
        **{key: found.get(key) for key in ("readVersion", "isolationLevel", "isBlindAppend")},
    }


def _parsed(text: Any) -> Any:
    return json.loads(text) if isinstance(text, str) and text.startswith(("{", "[")) else text


def _without_digest(told: Any) -> Any:
    """Of the commit that a batch is based on only the version: its bytes are each writer's."""
    if not isinstance(told, dict) or "based_on" not in told.get("sluice", {}):
        return told
    based_on = {"version": told["sluice"]["based_on"]["version"]}
    return {**told, "sluice": {**told["sluice"], "based_on": based_on}}


def _metadata(found: Told) -> Told:
    kept = {key: found[key] for key in ("format", "partitionColumns", "configuration")}
    return {**kept, "schema": json.loads(found["schemaString"])}


def _file(found: Told) -> Told:
    statistics = json.loads(found.get("stats") or "{}")
    return {
        "dataChange": found["dataChange"],
        "partition": found["partitionValues"],
        "statistics": statistics,
    }


def _read(uri: str, batches: Iterable[Batch]) -> Told:
    """What the product's readers answer."""
    data = DeltaLog(uri).snapshot()
    sizes = batch_sizes(uri)
    landings = [(str(each), data.log.commit_of(each), data.landing(each)) for each in batches]
    return {
        "landings": [
            (name, commit, landing.version, landing.doubt, _coordinates(landing.rows))
            for name, commit, landing in landings
        ],
        "columns": data.columns,
        "settings": data.settings,
        "counts": data.row_counts(),
        "stored": data.stored_rows(),
        "logged": data.log.logged_batches(),
        "edition": data.log.newest_edition(),
        "removed": [_coordinates(data.removed(each)) for each in range(1, (data.version or 0) + 1)],
        "sizes": sizes and replace(sizes, size=0),
    }


def _coordinates(found: StoredCoordinates | None) -> Any:
    if found is None:
        return None
    return {
        place: sorted(zip(offsets.tolist(), (found.names[n] for n in names), strict=True))
        for place, (offsets, names) in found.places.items()
    }
