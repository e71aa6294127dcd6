"""The demo's state table: the newest flight of each plane, and the proof that it is that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import duckdb
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from sluice.cli.output import print_table
from sluice.state_table.counts import StateCounts

STATE = "flights__state"
PROOF = f"""\
SELECT * EXCLUDE (_headers, _batch) FROM flights WHERE tailnum IS NOT NULL
QUALIFY row_number() OVER (
  PARTITION BY tailnum ORDER BY _timestamp DESC, _offset DESC, _partition DESC) = 1
EXCEPT SELECT * EXCLUDE (_deleted) FROM {STATE}"""
_COUNTS = f"""\
SELECT count(*), count(DISTINCT tailnum), count(*) FILTER (_deleted),
  (SELECT count(DISTINCT tailnum) FROM flights), (SELECT count(*) FROM ({PROOF}))
FROM {STATE}"""


@dataclass(frozen=True)
class Planes:
    """The state table as it is: its `rows`, of how many `keys`, and how many of them are `deleted`.

    `in_the_log` are the planes of the data table, `outdated` those without their newest flight in
    the state table, with all its values.
    """

    rows: int
    keys: int
    in_the_log: int
    deleted: int
    outdated: int

    def figures(self, verdict: Mapping[str, Any]) -> dict[str, tuple[object, object]]:
        """Name → what is expected and what is there; `verdict` is that of `sluice verify`."""
        return {
            "planes in the log = rows of the state": (self.in_the_log, self.rows),
            "planes with more than one row": (0, self.rows - self.keys),
            "planes whose row is not their newest": (0, self.outdated),
            "versions that the state is behind": (0, verdict["behind"]),
            "planes that differ, by sluice verify": (0, verdict["differing"]),
        }


def read_planes(warehouse: Path) -> Planes:
    """Compare both tables with DuckDB, which shares nothing with what has written them."""
    state = QueryBuilder().register(STATE, DeltaTable(warehouse / STATE))
    with duckdb.connect() as database:
        database.register("flights", DeltaTable(warehouse / "flights").to_pyarrow_dataset())
        # DuckDB's own way to Delta knows no deletion vectors; deltalake's does.
        database.register(STATE, pa.table(state.execute(f"SELECT * FROM {STATE}").read_all()))
        rows, keys, deleted, planes, outdated = database.execute(_COUNTS).fetchall()[0]
    return Planes(rows, keys, planes, deleted, outdated)


def print_planes(planes: Planes, verdict: Mapping[str, Any]) -> None:
    """Print where the state table stands, and the query that proves it."""
    refreshed = StateCounts(**(verdict["last_refresh"] or {}))
    print_table(
        f"\nState table {STATE}: the newest flight of each plane",
        ("rows", "deleted", "at version", "last refresh"),
        [(planes.rows, planes.deleted, verdict["stands_at"], refreshed)],
        prose=("last refresh",),
    )
    click.echo(f"\nPlanes without their newest flight there, by DuckDB: {planes.outdated}\n{PROOF}")
