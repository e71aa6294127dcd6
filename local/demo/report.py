"""The demo's report: what was produced, what is stored, and whether the two agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable
from rich.console import Console
from sluice.cli.output import print_table

from local.demo.planes import print_planes, read_planes
from local.embedded.airflow_processes import ROOT

ANALYST = """\
SELECT carrier, round(avg(dep_delay), 2) AS mean_departure_delay, count(*) AS flights
FROM flights GROUP BY carrier ORDER BY mean_departure_delay DESC, carrier"""


@dataclass(frozen=True)
class Run:
    """One DAG run: its name here, the records produced for it, and how it went."""

    name: str
    records: int
    seconds: float
    states: Mapping[str, str]
    jvms: int
    warm: bool

    @property
    def as_expected(self) -> bool:
        """With nothing new, ingest is skipped; a JVM starts only where no server is named."""
        ingest = "success" if self.records else "skipped"
        expected = {"plan": "success", "ingest": ingest, "refresh": "success"}
        started = bool(self.records) and not self.warm
        return expected.items() <= self.states.items() and started == bool(self.jvms)


def report(console: Console, environment: Mapping[str, str], runs: Sequence[Run]) -> bool:
    """Print the report. Returns whether every figure is as expected."""
    warehouse = Path(environment["SLUICE_WAREHOUSE"])
    flights = DeltaTable(warehouse / "flights").to_pyarrow_dataset()
    history = _sluice(environment, "history", "flights", "-n", "1000")
    verdict = _sluice(environment, "verify", "flights")
    with duckdb.connect() as database:
        database.register("flights", flights)
        stored, distinct = database.execute(
            "SELECT count(*), count(DISTINCT (_topic_id, _partition, _offset)) FROM flights"
        ).fetchone() or (0, 0)
        rows = dict(
            database.execute("SELECT _partition, count(*) FROM flights GROUP BY 1").fetchall()
        )
        answer = database.execute(ANALYST).fetchall()
    partitions = _print_partitions(history["batches"], rows)
    print_runs(runs)
    print_table("\nMean departure delay by carrier, read with DuckDB", _ANSWER, answer)
    planes = read_planes(warehouse)
    print_planes(planes, verdict["state"])
    produced = sum(run.records for run in runs)
    figures: dict[str, tuple[object, object]] = {
        "records produced = rows stored": (produced, stored),
        "duplicates": (0, stored - distinct),
        "missing, of what Kafka shows": (0, verdict["compared"] - distinct),
        "violations found by sluice verify": (0, len(verdict["violations"])),
        "partitions whose ranges and rows differ": (0, partitions),
        "runs that were not as expected": (0, sum(not run.as_expected for run in runs)),
        **planes.figures(verdict["state"]),
    }
    rows_of_figures = [
        (name, expected, found, "ok" if expected == found else "OFF")
        for name, (expected, found) in figures.items()
    ]
    print_table("\nFigures", ("figure", "expected", "found", ""), rows_of_figures)
    _print_next(console)
    return all(expected == found for expected, found in figures.values())


_ANSWER = ("carrier", "mean delay, minutes", "flights")


def _print_partitions(batches: Sequence[Mapping[str, Any]], rows: Mapping[int, int]) -> int:
    """Print the committed ranges; returns in how many partitions rows and ranges differ."""
    listed = list(_by_partition(batches))
    lines = [
        (f"flights[{number}]", ", ".join(ranges), records, rows.get(number, 0))
        for number, ranges, records in listed
    ]
    columns = ("partition", "committed ranges", "records", "rows")
    print_table("\nCommitted offset ranges", columns, lines, prose=("committed ranges",))
    return sum(records != rows.get(number, 0) for number, _, records in listed)


def _by_partition(batches: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, list[str], int]]:
    lines = [line for batch in batches for line in batch["partitions"]]
    for number in sorted({line["partition"] for line in lines}):
        mine = [line for line in lines if line["partition"] == number]
        ranges = [f"[{line['start']}, {line['end']})" for line in mine if line["records"]]
        yield number, ranges, sum(line["records"] for line in mine)


def print_runs(runs: Sequence[Run]) -> None:
    """Print a line for each run: whole in a pipe, and in 80 columns."""
    lines = [
        (
            run.name,
            run.records,
            round(run.seconds, 1),
            run.jvms,
            *run.states.values(),
        )
        for run in runs
    ]
    columns = ("run", "records", "seconds", "JVMs", *runs[0].states)
    print_table("\nDAG runs", columns, lines)


def _print_next(console: Console) -> None:
    console.print("\nWhere to look next:")
    console.print("  make up                  the same stack, kept running: Airflow's UI and login")
    console.print(f"  {_shown('build/demo/warehouse')}     the tables of this demo")
    console.print("  docs/tables.md           what is in them, with queries")
    console.print("  docs/state.md            the newest row of every key, and how to read it")
    console.print("  docs/design.md           why the figures above are always right")


def _shown(folder: str) -> str:
    return os.path.relpath(ROOT / folder)


def _sluice(environment: Mapping[str, str], *arguments: str) -> Any:
    command = [str(Path(sys.executable).parent / "sluice"), *arguments, "--json"]
    # Exit code 1 of `verify` means that it found violations; its output lists them.
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True)
    if not done.stdout:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)
