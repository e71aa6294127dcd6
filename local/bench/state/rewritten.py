"""Bytes rewritten: what the commits of a state table have added, and the rows that they changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click
from deltalake import DeltaTable, QueryBuilder

_CHANGED = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")


@dataclass(frozen=True)
class Rewritten:
    """The bytes of new files and new deletion vectors, and the rows inserted and updated."""

    bytes: int = 0
    rows: int = 0

    def __add__(self, other: Rewritten) -> Rewritten:
        return Rewritten(self.bytes + other.bytes, self.rows + other.rows)

    @property
    def each(self) -> float:
        """Bytes for a changed row."""
        return self.bytes / self.rows if self.rows else 0.0


def rewritten(table: Path, since: int) -> Rewritten:
    """By the commits after this version; an OPTIMIZE among them counts with its bytes."""
    commits = range(since + 1, version_of(table) + 1)
    return sum((_by(_actions(table, each)) for each in commits), Rewritten())


def version_of(table: Path) -> int:
    """A Delta table's newest version; -1 without a table."""
    return DeltaTable(table).version() if (table / "_delta_log").is_dir() else -1


def require_state(table: Path, expected: tuple[int, int]) -> None:
    """Raise ClickException if the table has other rows, or another sum of their orders."""
    query = QueryBuilder().register("state", DeltaTable(table))
    found = query.execute("SELECT count(*), sum(seq) FROM state").read_all()
    rows, orders = (found.column(at)[0].as_py() for at in range(2))
    if (rows, orders) != expected:
        raise click.ClickException(
            f"{table}: expected {expected[0]:,} rows, whose orders add up to {expected[1]:,},"
            f" found {rows:,} and {orders:,}"
        )


def _actions(table: Path, version: int) -> list[dict[str, dict[str, object]]]:
    text = (table / "_delta_log" / f"{version:020}.json").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _by(actions: list[dict[str, dict[str, object]]]) -> Rewritten:
    there = {each["remove"]["path"] for each in actions if "remove" in each}
    adds = [each["add"] for each in actions if "add" in each]
    # A file that only has another deletion vector is removed and added in one commit.
    files = sum(int(str(each["size"])) for each in adds if each["path"] not in there)
    vectors = sum(_vector(each) for each in adds)
    told = next((each["commitInfo"] for each in actions if "commitInfo" in each), {})
    metrics = told.get("operationMetrics")
    found = metrics if isinstance(metrics, dict) else {}
    return Rewritten(files + vectors, sum(int(found.get(each, 0)) for each in _CHANGED))


def _vector(add: dict[str, object]) -> int:
    vector = add.get("deletionVector")
    return int(vector["sizeInBytes"]) if isinstance(vector, dict) else 0
