"""The oracle reads deletion vectors by itself: a state table that is merged into has them."""

from __future__ import annotations

import json
import struct
import uuid
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from tests.oracle import Unjudgeable
from tests.oracle.deletion_vectors import MAGIC, Z85, deleted_rows
from tests.oracle.delta_log import read_log
from tests.oracle.state_world import (
    LOG,
    STATE,
    Commit,
    StateWorld,
    judged,
    kept,
    record,
    two_versions,
    verdict,
)
from tests.oracle.table_files import read_live

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEATURES = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors"],
}


def z85(stored: bytes) -> str:
    stored += b"\0" * (-len(stored) % 4)
    words = (number for (number,) in struct.iter_unpack(">I", stored))
    return "".join(Z85[word // 85**power % 85] for word in words for power in range(4, -1, -1))


def roaring(*containers: tuple[int, int, bytes], runs: bytes = b"", high: int = 0) -> bytes:
    """One bitmap of containers by their key, number of rows and bytes, in the portable format."""
    size = len(containers)
    head = struct.pack("<I", 12347 | (size - 1) << 16) + runs
    head = head if runs else struct.pack("<II", 12346, size)
    head += b"".join(struct.pack("<HH", key, rows - 1) for key, rows, _ in containers)
    if not runs or size >= 4:
        head += b"\xff" * 4 * size
    return struct.pack("<IqI", MAGIC, 1, high) + head + b"".join(each[2] for each in containers)


def numbers(*rows: int) -> bytes:
    return struct.pack(f"<{len(rows)}H", *rows)


def inline(stored: bytes, rows: int) -> dict[str, Any]:
    said = {"sizeInBytes": len(stored), "cardinality": rows}
    return {"storageType": "i", "pathOrInlineDv": z85(stored), **said}


@pytest.mark.parametrize(
    ("stored", "rows"),
    [
        (roaring((0, 3, numbers(1, 4, 65535))), [1, 4, 65535]),
        (roaring((0, 1, numbers(7)), (2, 2, numbers(0, 9))), [7, 131072, 131081]),
        (roaring((0, 1, numbers(7)), high=1), [2**32 + 7]),
        (roaring((0, 32768, b"\x55" * 8192)), [*range(0, 65536, 2)]),
        # Two runs, of 3 and two more, and of 9 alone; then a list.
        (
            roaring((1, 4, numbers(2, 3, 2, 9, 0)), (2, 1, numbers(5)), runs=b"\x01"),
            [65539, 65540, 65541, 65545, 131077],
        ),
        (struct.pack("<Iq", MAGIC, 0), []),
    ],
    ids=["list", "two", "high", "bits", "runs", "none"],
)
def test_every_form_of_a_deletion_vector_is_read(
    tmp_path: Path, stored: bytes, rows: Sequence[int]
) -> None:
    assert deleted_rows(tmp_path, inline(stored, len(rows))).tolist() == list(rows)


def test_a_damaged_deletion_vector_is_not_judged(tmp_path: Path) -> None:
    right = roaring((0, 2, numbers(1, 4)))
    for wrong, told in (
        (inline(right, 3), "found 2 rows"),
        (inline(right[1:], 2), "not a RoaringBitmapArray"),
        (inline(right[:-2], 2), "cannot be read"),
        ({**inline(right, 2), "pathOrInlineDv": "~"}, "cannot be read"),
    ):
        with pytest.raises(Unjudgeable, match=told):
            deleted_rows(tmp_path, wrong)


def test_a_deletion_vector_in_a_file_is_read(tmp_path: Path) -> None:
    stored, name = roaring((0, 2, numbers(0, 3))), uuid.uuid4()
    file = tmp_path / "ab" / f"deletion_vector_{name}.bin"
    file.parent.mkdir()
    size, checksum = struct.pack(">i", len(stored)), struct.pack(">I", zlib.crc32(stored))
    file.write_bytes(b"\x01" + size + stored + checksum)
    said = {"offset": 1, "sizeInBytes": len(stored), "cardinality": 2}
    relative = {"storageType": "u", "pathOrInlineDv": f"ab{z85(name.bytes)}", **said}
    absolute = {"storageType": "p", "pathOrInlineDv": file.as_uri(), **said}
    for vector in (relative, absolute):
        assert deleted_rows(tmp_path, vector).tolist() == [0, 3]
    file.write_bytes(b"\x01" + size + stored + b"\0\0\0\0")
    with pytest.raises(Unjudgeable, match="another checksum"):
        deleted_rows(tmp_path, relative)


def hide(root: Path, number: int, place: int) -> None:
    """A commit by which the only file of the table loses one row more, as a MERGE hides it."""
    log = root / "_delta_log"
    lines = (log / f"{number - 1:020d}.json").read_text(encoding="utf-8").splitlines()
    (add,) = (json.loads(line)["add"] for line in lines if line.startswith('{"add"'))
    gone = {name: add[name] for name in ("path", "partitionValues", "size")}
    actions = [
        {"commitInfo": {"operation": "DELETE"}},
        {"protocol": FEATURES},
        {"remove": {**gone, "dataChange": True, "deletionTimestamp": 1}},
        {"add": {**add, "deletionVector": inline(roaring((0, 1, numbers(place))), 1)}},
    ]
    (log / f"{number:020d}.json").write_text("\n".join(map(json.dumps, actions)), "utf-8")


def test_rows_that_a_deletion_vector_hides_are_none_in_either_table(tmp_path: Path) -> None:
    world = StateWorld([LOG], [Commit(0, [kept(row) for row in (*LOG, LOG[0])])])
    assert "key 0: expected one row, found several" in verdict(world, tmp_path)
    hide(tmp_path / "t__state", 1, 3)
    told = judged(tmp_path)
    assert told.count("found several") == 1, "as version 0 was"
    assert "after" not in told
    hide(tmp_path / "t", 1, 2)
    assert "behind data version 1: key 2: expected no row, found one" in judged(tmp_path)


@pytest.mark.spark
def test_a_state_that_spark_merged_is_read(tmp_path: Path, spark: SparkSession) -> None:
    world = two_versions()
    world.spans[0] = log = [record(key, (0, key)) for key in range(1000)]
    gone = record(2, (0, 1000), _tombstone=True)
    world.spans[1] = [gone]
    world.commits = world.commits[:1]
    world.commits[0].rows = [kept(row) for row in log]
    world.write(tmp_path)
    root = tmp_path / "t__state"
    table = f"delta.`{root}`"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    newer = pa.Table.from_pylist([kept(gone, deleted=True)], STATE)
    write_deltalake(tmp_path / "newer", newer)
    (told,) = (v.info["userMetadata"] for v in read_log(root).versions if v.transactions)
    said = {
        "spark.databricks.delta.write.txnAppId": "sluice:p:state",
        "spark.databricks.delta.write.txnVersion": "1",
        "spark.databricks.delta.commitInfo.userMetadata": json.dumps(
            {**json.loads(told), "data_version": 1}
        ),
    }
    merge = (
        f"MERGE INTO {table} s USING delta.`{tmp_path / 'newer'}` n ON s._key_id = n._key_id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    for key, value in said.items():
        spark.conf.set(key, value)
    try:
        spark.sql(merge).collect()
    finally:
        for key in said:
            spark.conf.unset(key)
    log_read = read_log(root, vectors=True)
    assert [each.vector != () for each in log_read.live.values()].count(True) == 1
    assert judged(tmp_path) == ""
    mine = read_live(log_read, ["_key_id", "_offset"]).sort_by("_key_id")
    query = QueryBuilder().register("s", DeltaTable(root))
    theirs = query.execute("SELECT _key_id, _offset FROM s ORDER BY _key_id").read_all()
    assert np.array_equal(mine["_offset"].to_numpy(), pa.table(theirs)["_offset"].to_numpy())
