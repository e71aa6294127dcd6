"""Many small batches: what a plan reads of the offsets table does not grow with them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.receipts import receipt_without_gaps
from sluice.offsets.resets import Resets
from sluice.tables.offsets_appends import append_plan, append_receipt
from sluice.tables.offsets_table import OffsetsTable

from tests.unit.builders import batch, offsets, sequence

pytestmark = pytest.mark.integration

BATCHES, AT_ONCE = 150, 5
NOW = Origin("run", "pytest", datetime(2026, 11, 1, tzinfo=UTC))


def plan_and_settle(table: OffsetsTable, first: int) -> None:
    """A plan of several batches, and their receipts one by one, as a run writes them."""
    planned = [
        batch(*(offsets(number - 1, number, partition) for partition in range(3)), number=number)
        for number in range(first, first + AT_ONCE)
    ]
    append_plan(table.snapshot_to_write(), Plan(tuple(planned)), NOW)
    for each in planned:
        append_receipt(table.snapshot(), receipt_without_gaps(each, data_version=each.number), NOW)
    table.compact_now_and_then()


def commits_to_replay(folder: Path) -> int:
    """Commits since the last checkpoint: what opening the table reads one by one."""
    log = folder / "_delta_log"
    checkpoints = [int(path.name[:20]) for path in log.glob("*.checkpoint.parquet")]
    return DeltaTable(folder).version() - max(checkpoints, default=-1)


def test_what_is_read_is_bounded_and_maintenance_makes_it_less(tmp_path: Path) -> None:
    table = OffsetsTable(str(tmp_path), "flights", str(tmp_path / "_sluice" / "offsets"))
    files = replayed = 0
    for first in range(1, BATCHES, AT_ONCE):
        plan_and_settle(table, first)
        files = max(files, len(DeltaTable(tmp_path).file_uris()))
        replayed = max(replayed, commits_to_replay(tmp_path))
    assert DeltaTable(tmp_path).version() > BATCHES
    assert files <= 20 + AT_ONCE
    assert replayed <= 100 + AT_ONCE
    found = table.snapshot().history(sequence(), Resets({}))
    assert (found.planned, found.settled, len(found.batches)) == (BATCHES, BATCHES, 1)
    table.maintain()
    assert (len(DeltaTable(tmp_path).file_uris()), commits_to_replay(tmp_path)) == (2, 0)
    rows = table.snapshot().rows(sequence(), ["planned", "committed"])
    assert len(rows) == 2 * 3 * BATCHES
