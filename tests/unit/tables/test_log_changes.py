"""What a version did to a table's rows, by the files that its commit names."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.tables.log_changes import log_changes


@pytest.mark.parametrize(("stats", "rows"), [({"stats": '{"numRecords":10}'}, 10), ({}, 0)])
def test_rows_of_removed_files_count_where_the_log_says_how_many(
    tmp_path: Path, stats: dict[str, str], rows: int
) -> None:
    """As Spark says, and delta-rs does not."""
    write_deltalake(tmp_path, pa.table({"id": range(10)}))
    (file,) = DeltaTable(tmp_path).get_add_actions().to_struct_array().to_pylist()
    gone = {"path": file["path"], "dataChange": True, "deletionTimestamp": 0, **stats}
    commit = tmp_path / "_delta_log" / f"{1:020d}.json"
    commit.write_text(json.dumps({"remove": gone}))
    made, removed = log_changes(str(tmp_path), -1, 1)
    assert (made.kind, made.rows) == ("appended", 10)
    assert (removed.kind, removed.rows) == ("rewritten", rows)
