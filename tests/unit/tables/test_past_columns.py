"""Past columns: what a table had at its newest batch, and who took it away."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, Transaction, write_deltalake
from sluice.columns.columns import parse_columns
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.delta_log import DeltaLog
from sluice.tables.past_columns import lost_columns

from tests.unit.builders import batch, offsets

DECLARED = parse_columns("id INT, amount DOUBLE, extra STRING")
BOTH = pa.table({"id": pa.array([1], pa.int32()), "amount": [1.0]})


def landed(at: Path) -> None:
    one = batch(offsets(0, 1))
    told = CommitProperties(
        custom_metadata={"userMetadata": batch_metadata(one, "a")},
        app_transactions=[Transaction(one.sequence.app_id, one.number)],
    )
    write_deltalake(at, BOTH, mode="append", commit_properties=told)


def lost(at: Path) -> list[str]:
    return [str(each) for each in lost_columns(DeltaLog(str(at)).snapshot(), DECLARED)]


def test_a_column_that_no_batch_had_is_new(tmp_path: Path) -> None:
    landed(tmp_path)
    assert lost(tmp_path) == []


def test_a_column_that_is_gone_is_named_with_the_commit(tmp_path: Path) -> None:
    landed(tmp_path)
    for _ in range(3):
        write_deltalake(tmp_path, BOTH, mode="append")
    left = BOTH.select(["id"])
    write_deltalake(tmp_path, left, mode="overwrite", schema_mode="overwrite")
    for _ in range(4):
        write_deltalake(tmp_path, left, mode="append")
    assert lost(tmp_path) == ["amount DOUBLE, which version 4 (WRITE) took away"]


def test_where_the_log_has_lost_the_batch_nobody_knows(tmp_path: Path) -> None:
    landed(tmp_path)
    left = BOTH.select(["id"])
    write_deltalake(tmp_path, left, mode="overwrite", schema_mode="overwrite")
    first = tmp_path / "_delta_log" / f"{0:020d}.json"
    assert json.loads(first.read_text(encoding="utf-8").splitlines()[0])
    assert lost(tmp_path) != []
    DeltaLog(str(tmp_path)).snapshot()
    from deltalake import DeltaTable

    DeltaTable(tmp_path).create_checkpoint()
    first.unlink()
    assert lost(tmp_path) == []


def test_what_was_renamed_is_told_as_sql_has_it(tmp_path: Path) -> None:
    """Delta quotes less in its history."""
    one = batch(offsets(0, 1))
    told = CommitProperties(
        custom_metadata={"userMetadata": batch_metadata(one, "a")},
        app_transactions=[Transaction(one.sequence.app_id, one.number)],
    )
    odd = pa.table({"id": [1], "a-b": [1], "c.d": [1]})
    write_deltalake(tmp_path, odd, mode="append", commit_properties=told)
    write_deltalake(tmp_path, odd.select(["id"]), mode="overwrite", schema_mode="overwrite")
    log = tmp_path / "_delta_log" / f"{1:020d}.json"
    lines = [json.loads(each) for each in log.read_bytes().splitlines()]
    for each in lines:
        if "commitInfo" in each:
            paths = {"oldColumnPath": "a-b", "newColumnPath": "`e.f`"}
            each["commitInfo"] |= {"operation": "RENAME COLUMN", "operationParameters": paths}
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    declared = parse_columns("id BIGINT, `a-b` BIGINT, `c.d` BIGINT")
    found = [str(each) for each in lost_columns(DeltaLog(str(tmp_path)).snapshot(), declared)]
    assert found == [
        "`a-b` BIGINT, which version 1 (RENAME COLUMN) renamed `e.f`",
        "`c.d` BIGINT, which version 1 (RENAME COLUMN) took away",
    ]
