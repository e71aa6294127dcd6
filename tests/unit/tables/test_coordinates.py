"""A landing is counted from its commit's own files, else from the rows that name the batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import TableRefused
from sluice.offsets.batches import Batch
from sluice.offsets.ranges import TopicIdPartition
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.commits import written_files
from sluice.tables.coordinates import COORDINATES, Landing
from sluice.tables.delta_log import DeltaLog
from sluice.tables.rows import rows_where

from tests.unit.builders import TOPIC_ID, batch, offsets

PLACE = TopicIdPartition(TOPIC_ID, 0)
FIRST, SECOND = batch(offsets(0, 3)), batch(offsets(3, 6), number=2)


def rows(landed: Batch, **columns: list[object]) -> pa.Table:
    found = range(landed.ranges[0].offsets.start, landed.ranges[0].offsets.end)
    values = {"_topic_id": TOPIC_ID, "_partition": 0, "_batch": str(landed)}
    lines = [{**values, "_offset": at} for at in found]
    return pa.Table.from_pylist(lines, schema=COORDINATES)


def commit(landed: Batch) -> CommitProperties:
    return CommitProperties(
        custom_metadata={"userMetadata": batch_metadata(landed, "attempt")},
        app_transactions=[Transaction(landed.sequence.app_id, landed.number)],
    )


def land(table: Path, landed: Batch, content: pa.Table | None = None) -> None:
    content = rows(landed) if content is None else content
    write_deltalake(table, content, mode="append", commit_properties=commit(landed))


def landing(table: Path, landed: Batch) -> Landing:
    return DeltaLog(str(table)).snapshot().landing(landed)


def found(landing: Landing) -> list[int]:
    assert landing.rows is not None
    return sorted(landing.rows.offsets(PLACE).tolist())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two batches of three rows, landed in versions 1 and 2."""
    where = tmp_path / "t"
    write_deltalake(where, COORDINATES.empty_table())
    land(where, FIRST)
    land(where, SECOND)
    return where


def test_what_others_deleted_since_was_landed_all_the_same(table: Path) -> None:
    DeltaTable(table).delete("_offset < 5")
    assert found(landing(table, FIRST)) == [0, 1, 2]
    assert found(landing(table, SECOND)) == [3, 4, 5]
    assert landing(table, SECOND).version == 2


def test_rows_that_a_commit_only_moved_are_other_batches(table: Path) -> None:
    third = batch(offsets(6, 8), number=3)
    land(table, third, pa.concat_tables([rows(third), rows(FIRST)]))
    assert found(landing(table, third)) == [6, 7]


def test_files_that_are_gone_are_counted_where_their_rows_are_now(table: Path) -> None:
    DeltaTable(table).optimize.compact()
    DeltaTable(table).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert not list(table.glob("*-0-*.parquet"))[3:], "one file is left"
    assert (found(landing(table, FIRST)), landing(table, FIRST).doubt) == ([0, 1, 2], "")
    assert landing(table, SECOND).version == 2


def test_rows_that_nobody_can_read_leave_a_batch_in_doubt(table: Path) -> None:
    for each in table.glob("*.parquet"):
        each.unlink()
    there = landing(table, FIRST)
    assert (there.version, there.rows) == (1, None)
    assert "neither its files nor its rows can be read" in there.doubt


def test_a_commit_of_other_ranges_leaves_a_batch_in_doubt(table: Path) -> None:
    """Such as another installation's of the same number, where two see one path as two folders."""
    planned = batch(offsets(0, 4))
    assert "names other ranges than its plan" in landing(table, planned).doubt


def test_only_whole_files_show_that_a_commit_has_landed(table: Path) -> None:
    there = DeltaLog(str(table)).snapshot()
    first, second = filter(None, map(there.log.commit_of, (FIRST, SECOND)))
    assert (there.has_files_of(first), there.has_files_of(second)) == (True, True)
    ours, other = (written_files(DeltaTable(table), each.version) for each in (first, second))
    (table / ours[0].path).unlink()
    (table / other[0].path).write_bytes(b"")
    assert (there.has_files_of(first), there.has_files_of(second)) == (False, False)


def test_a_commit_that_the_log_has_lost_leaves_a_batch_in_doubt(table: Path) -> None:
    DeltaTable(table).create_checkpoint()
    for version in (0, 1):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    there = landing(table, FIRST)
    assert (there.version, found(there)) == (1, [0, 1, 2])
    assert "no longer in the data table's log" in there.doubt
    assert landing(table, SECOND).doubt == ""


@pytest.mark.parametrize("column", COORDINATES.names)
def test_a_null_coordinate_is_never_counted(
    table: Path, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    third = batch(offsets(6, 8), number=3)
    content = rows(third)
    nulls = pa.nulls(len(content), content.schema.field(column).type)
    land(table, third, content.set_column(content.schema.get_field_index(column), column, nulls))
    landing(table, third)
    assert "version 3: expected the coordinates of batch forward-1-3" in "\n".join(caplog.messages)


def by_hand(
    table: Path,
    paths: list[str],
    fields: list[dict[str, Any]],
    properties: dict[str, str],
    reader: int,
) -> None:
    """A table of one commit, as another writer's log has it."""
    actions: list[dict[str, Any]] = [
        {"commitInfo": {"userMetadata": batch_metadata(FIRST, "attempt")}},
        {"protocol": {"minReaderVersion": reader, "minWriterVersion": 5}},
        {
            "metaData": {
                "id": "a-table",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": [],
                "configuration": properties,
            }
        },
        {"txn": {"appId": FIRST.sequence.app_id, "version": 1}},
    ]
    added = {"partitionValues": {}, "modificationTime": 0, "dataChange": True}
    actions += [{"add": {"path": path, "size": 1, **added}} for path in paths]
    (table / "_delta_log").mkdir(parents=True)
    lines = "\n".join(json.dumps(each, separators=(",", ":")) for each in actions)
    (table / "_delta_log" / f"{0:020d}.json").write_text(lines, encoding="utf-8")


TYPES = {"_topic_id": "string", "_partition": "integer", "_offset": "long", "_batch": "string"}


def fields(**physical: str) -> list[dict[str, Any]]:
    """The schema's fields; with physical names where they are mapped."""
    return [
        {
            "name": name,
            "type": kind,
            "nullable": True,
            "metadata": {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": physical[name],
            }
            if physical
            else {},
        }
        for number, (name, kind) in enumerate(TYPES.items(), start=1)
    ]


PHYSICAL = {name: f"col{name}" for name in TYPES}
MAPPED = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "4"}


def test_mapped_columns_are_read_by_their_names_in_the_files(tmp_path: Path) -> None:
    table = tmp_path / "t"
    by_hand(table, ["one.parquet"], fields(**PHYSICAL), MAPPED, reader=2)
    pq.write_table(rows(FIRST).rename_columns(PHYSICAL), table / "one.parquet")
    assert found(landing(table, FIRST)) == [0, 1, 2]
    assert rows_where(DeltaTable(table), ["_offset"], [("_offset", "=", 1)])[
        "_offset"
    ].to_pylist() == [1]


def test_a_mapping_by_ids_is_refused_by_name(tmp_path: Path) -> None:
    table = tmp_path / "t"
    by_hand(table, [], fields(**PHYSICAL), MAPPED | {"delta.columnMapping.mode": "id"}, reader=2)
    with pytest.raises(TableRefused, match=r"columnMapping.mode = 'name' or 'none', found 'id'"):
        rows_where(DeltaTable(table), ["_offset"])


def test_a_column_that_is_no_longer_there_is_refused_by_name(table: Path) -> None:
    with pytest.raises(TableRefused, match="expected the columns _key, found none"):
        rows_where(DeltaTable(table), ["_offset", "_key"])


def test_paths_are_decoded_and_may_be_absolute(tmp_path: Path) -> None:
    table, elsewhere = tmp_path / "t", tmp_path / "else where" / "two.parquet"
    inside = "day=2024 01%2F00%25/one é.parquet"
    absolute = quote(str(elsewhere))
    by_hand(table, [quote(inside), f"file://{absolute}"], fields(), {}, reader=1)
    for path, content in (table / inside, slice(0, 2)), (elsewhere, slice(2, 3)):
        path.parent.mkdir(parents=True)
        pq.write_table(rows(FIRST)[content], path)
    assert found(landing(table, FIRST)) == [0, 1, 2]
