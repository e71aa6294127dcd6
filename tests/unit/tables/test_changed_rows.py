"""Changed rows: by value, not by having been written into another file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.tables.changed_rows import changed_rows

NAN = float("nan")
ROWS = pa.table(
    {
        "at": pa.array([0, 1, 2, 3], pa.int64()),
        "number": pa.array([1.5, NAN, None, 4.0]),
        "headers": pa.array([[{"key": "a", "value": b"1"}], None, [], [{"key": "b"}]]),
    }
)


@pytest.fixture
def table(tmp_path: Path) -> str:
    write_deltalake(str(tmp_path / "t"), ROWS)
    return str(tmp_path / "t")


def found(table: str, *wanted: tuple[str, str, object]) -> list[int] | None:
    version = DeltaTable(table).version()
    rows = changed_rows(table, version, ["at"], ["at"], wanted)
    return None if rows is None else sorted(rows["at"].to_pylist())


@pytest.mark.parametrize(
    ("updates", "where", "expected"),
    [
        ({"number": "2.5"}, "at = 0", [0]),
        ({"number": "null"}, "at IN (0, 2)", [0]),
        ({"number": "7.0"}, "at = 1", [1]),
        ({"number": "7.0"}, "at = 2", [2]),
        ({"headers": "null"}, "at IN (0, 1)", [0]),
        ({"number": "number"}, "at >= 0", []),
    ],
)
def test_a_row_is_changed_where_a_value_is_another(
    table: str, updates: dict[str, str], where: str, expected: list[int]
) -> None:
    DeltaTable(table).update(updates=updates, predicate=where)
    assert found(table) == expected


def test_a_column_that_was_added_and_filled_is_a_change(table: str) -> None:
    """Reading again would not fill it."""
    more = ROWS.append_column("note", pa.array(["x", None, None, "y"]))
    write_deltalake(table, more, mode="overwrite", schema_mode="overwrite")
    assert found(table) == [0, 3]


def test_a_type_that_became_wider_is_none(tmp_path: Path) -> None:
    table = str(tmp_path / "t")
    rows = pa.table({"at": pa.array([0, 1], pa.int64()), "count": pa.array([7, 8], pa.int32())})
    write_deltalake(table, rows)
    wider = rows.set_column(1, "count", pa.array([7, 9], pa.int64()))
    write_deltalake(table, wider, mode="overwrite", schema_mode="overwrite")
    assert found(table) == [1]


def test_only_rows_that_meet_the_conditions_are_compared(table: str) -> None:
    DeltaTable(table).update(updates={"number": "9.0"}, predicate="at >= 0")
    assert found(table, ("at", ">=", 1), ("at", "<", 3)) == [1, 2]


def test_a_deletion_changes_no_row(table: str) -> None:
    DeltaTable(table).delete("at = 1")
    assert found(table) == []


def test_where_the_files_are_gone_nothing_is_known(table: str) -> None:
    DeltaTable(table).update(updates={"number": "9.0"}, predicate="at = 0")
    gone = DeltaTable(table)
    gone.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    assert changed_rows(table, 1, ["at"], ["at"]) is None
