"""A process that has read a table ends as it wants to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

# Without the wait at the end, about one such process in five is aborted.
PROCESSES = 24

READ_AND_END = """
import sys
from deltalake import DeltaTable
from sluice.tables.offsets_files import OffsetsFiles
files = OffsetsFiles("flights", DeltaTable(sys.argv[1]), {})
assert len(files.rows([("event", "=", "planned")])) == 200
"""


@pytest.mark.patient
def test_a_process_that_has_read_a_table_ends_without_being_aborted(tmp_path: Path) -> None:
    table = str(tmp_path / "flights__offsets")
    for _ in range(20):
        rows = pa.table({"event": ["planned"] * 10, "batch_id": range(10)})
        write_deltalake(table, rows, mode="append", partition_by=["event"])
    command = [sys.executable, "-c", READ_AND_END, table]
    codes = []
    for _ in range(0, PROCESSES, 4):
        running = [subprocess.Popen(command, env={**os.environ}) for _ in range(4)]
        codes += [each.wait() for each in running]
    assert codes == [0] * PROCESSES
