"""Table size: rows and bytes by the log, also where delta-rs tells no deletion vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.tables.table_size import size_of

VECTOR = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 1}


def commit(table: Path, *actions: dict[str, Any]) -> None:
    version = DeltaTable(table).version() + 1
    lines = [{"commitInfo": {"operation": "DELETE"}}, *actions]
    path = table / "_delta_log" / f"{version:020d}.json"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))


def gives(*features: str) -> dict[str, Any]:
    named = {"readerFeatures": list(features), "writerFeatures": list(features)}
    return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **named}}


def with_three_rows(folder: Path) -> dict[str, Any]:
    """Writes a table; its one file, as its commit adds it."""
    write_deltalake(folder, pa.table({"id": [1, 2, 3]}))
    lines = (folder / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
    (added,) = (each["add"] for each in map(json.loads, lines) if "add" in each)
    return dict(added)


def test_rows_and_bytes_are_those_of_the_files(tmp_path: Path) -> None:
    added = with_three_rows(tmp_path)
    found = size_of(DeltaTable(tmp_path))
    assert (found.rows, found.size) == (3, added["size"])


@pytest.mark.parametrize("beside", [(), ("typeWidening",)])
def test_rows_that_are_marked_as_deleted_do_not_count(
    tmp_path: Path, beside: tuple[str, ...]
) -> None:
    """The file of the vector is not read: a table that is refused may have lost it."""
    added = with_three_rows(tmp_path)
    told = {**VECTOR, "sizeInBytes": 36, "cardinality": 2}
    gone = {"path": added["path"], "dataChange": True, "deletionTimestamp": 1}
    commit(
        tmp_path,
        gives("deletionVectors", *beside),
        {"remove": gone},
        {"add": {**added, "deletionVector": told}},
    )
    assert size_of(DeltaTable(tmp_path)).rows == 1


def test_a_table_whose_types_may_be_widened_has_a_size(tmp_path: Path) -> None:
    with_three_rows(tmp_path)
    commit(tmp_path, gives("typeWidening"))
    assert size_of(DeltaTable(tmp_path)).rows == 3
