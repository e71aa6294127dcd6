"""Batch sizes: what the newest batches took in the data table, by their commits."""

from __future__ import annotations

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from sluice.planning.outlook import BatchSizes
from sluice.tables.data_log import batch_of, ranges_of

_NEWEST = 10


def batch_sizes(uri: str) -> BatchSizes | None:
    """Rows, bytes and files of the newest batches; None where there is none to go by."""
    try:
        commits = DeltaTable(uri).history(limit=_NEWEST)
    except (TableNotFoundError, DeltaError, OSError):
        return None
    found = BatchSizes(0, 0, 0, 0)
    for commit in filter(batch_of, commits):
        metrics = commit.get("operationMetrics", {})
        if {"numOutputRows", "numOutputBytes", "numFiles"} <= metrics.keys():
            found += BatchSizes(
                ranges=sum(1 for each in ranges_of(commit) if each.span),
                rows=int(metrics["numOutputRows"]),
                size=int(metrics["numOutputBytes"]),
                files=int(metrics["numFiles"]),
            )
    return found if found.rows and found.ranges else None
