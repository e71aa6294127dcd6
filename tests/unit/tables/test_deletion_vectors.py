"""Deletion vectors are read where delta-rs does not tell them: beside type widening."""

from __future__ import annotations

import json
import struct
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.errors import TableRefused
from sluice.tables.data_files import files_of
from sluice.tables.deletion_vectors import kept_rows
from sluice.tables.logged_vectors import logged_vectors
from sluice.tables.rows import removed_rows, rows_where

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
FEATURES = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors", "typeWidening"],
    "writerFeatures": ["deletionVectors", "typeWidening"],
}


def z85(stored: bytes) -> str:
    stored += b"\0" * (-len(stored) % 4)
    found = ""
    for (number,) in struct.iter_unpack(">I", stored):
        found += "".join(ALPHABET[number // 85**power % 85] for power in range(4, -1, -1))
    return found


def roaring(*containers: tuple[int, int, bytes], runs: bytes = b"") -> bytes:
    """One bitmap of containers by their key, number of rows and bytes, in the portable format."""
    size = len(containers)
    if runs:
        head = struct.pack("<I", 12347 | (size - 1) << 16) + runs
    else:
        head = struct.pack("<II", 12346, size)
    head += b"".join(struct.pack("<HH", key, rows - 1) for key, rows, _ in containers)
    if not runs or size >= 4:
        head += b"\xff" * 4 * size
    bitmap = head + b"".join(stored for _, _, stored in containers)
    return struct.pack("<iqI", 1681511377, 1, 0) + bitmap


def array(*rows: int) -> bytes:
    return struct.pack(f"<{len(rows)}H", *rows)


def inline(stored: bytes, rows: int) -> dict[str, Any]:
    where = {"storageType": "i", "pathOrInlineDv": z85(stored)}
    return {**where, "sizeInBytes": len(stored), "cardinality": rows}


def deleted(uri: str, vector: dict[str, Any]) -> list[int]:
    kept = np.frombuffer(kept_rows(uri, vector), np.uint8)
    return [int(each) for each in np.flatnonzero(kept == 0)]


EVERY_SECOND = [each for each in range(65536) if each % 2 == 0]


@pytest.mark.parametrize(
    ("stored", "rows"),
    [
        (roaring((0, 3, array(1, 4, 65535))), [1, 4, 65535]),
        (roaring((0, 1, array(7)), (2, 2, array(0, 9))), [7, 131072, 131081]),
        (roaring((0, 32768, b"\x55" * 8192)), EVERY_SECOND),
        # Two runs: of 3 and two more, and of 9 alone.
        (roaring((1, 4, array(2, 3, 2, 9, 0)), runs=b"\x01"), [65539, 65540, 65541, 65545]),
        (struct.pack("<iq", 1681511377, 0), []),
    ],
    ids=["array", "two", "bits", "runs", "none"],
)
def test_every_container_of_a_bitmap_is_read(stored: bytes, rows: Sequence[int]) -> None:
    assert deleted("", inline(stored, len(rows))) == list(rows)


@pytest.mark.parametrize(
    "vector",
    [
        inline(roaring((0, 2, array(1, 4))), 3),
        inline(struct.pack("<iq", 1681511376, 0), 0),
        inline(roaring((0, 9, array(1))), 9),
        {**inline(b"", 0), "pathOrInlineDv": "~~~~~"},
    ],
    ids=["counted", "format", "cut", "text"],
)
def test_a_damaged_vector_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(TableRefused, match="cannot be read"):
        kept_rows("t", vector)


def test_a_vector_in_a_file_of_the_table(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"at": [1]}))
    stored, name = roaring((0, 2, array(0, 3))), uuid.uuid4()
    file = tmp_path / "t" / "ab" / f"deletion_vector_{name}.bin"
    file.parent.mkdir()
    file.write_bytes(b"\x01" + struct.pack(">i", len(stored)) + stored + b"\0\0\0\0")
    said = {"offset": 1, "sizeInBytes": len(stored), "cardinality": 2}
    relative = {"storageType": "u", "pathOrInlineDv": "ab" + z85(name.bytes), **said}
    for each in (relative, {**relative, "storageType": "p", "pathOrInlineDv": str(file)}):
        assert deleted(str(tmp_path / "t"), each) == [0, 3]
    with pytest.raises(TableRefused):
        kept_rows(str(tmp_path / "t"), {**relative, "sizeInBytes": 3})


@pytest.fixture
def widened(tmp_path: Path) -> Path:
    """Rows 0 to 9 in one file, 10 to 19 in another, of which 12 and 15 are deleted since."""
    table = tmp_path / "t"
    for first in (0, 10):
        rows = pa.table({"at": pa.array(range(first, first + 10), pa.int64())})
        write_deltalake(table, rows, mode="append")
    log = table / "_delta_log"
    lines = (log / f"{1:020d}.json").read_text().splitlines()
    (add,) = [json.loads(each)["add"] for each in lines if each.startswith('{"add"')]
    gone = {"path": add["path"], "dataChange": True, "partitionValues": {}, "size": add["size"]}
    vector = inline(roaring((0, 2, array(2, 5))), 2)
    actions = [
        {"commitInfo": {"operation": "DELETE"}},
        {"protocol": FEATURES},
        {"remove": {**gone, "deletionTimestamp": 1, "extendedFileMetadata": True}},
        {"add": {**add, "deletionVector": vector}},
    ]
    (log / f"{2:020d}.json").write_text("\n".join(map(json.dumps, actions)))
    return table


def test_beside_type_widening_the_deleted_rows_are_left_out_and_known(widened: Path) -> None:
    table = DeltaTable(widened)
    left = sorted(rows_where(table, ["at"])["at"].to_pylist())
    assert left == [each for each in range(20) if each not in (12, 15)]
    removed = removed_rows(table, 2, ["at"], ["at"])
    assert removed is not None
    assert removed["at"].to_pylist() == [12, 15]


@pytest.mark.parametrize("form", ["one file", "parts", "sidecars", "json"])
def test_a_checkpoint_tells_the_vectors_too(widened: Path, form: str) -> None:
    table = DeltaTable(widened)
    assert [each.kept is None for each in files_of(table)].count(False) == 1
    log = widened / "_delta_log"
    adds = []
    for version in range(3):
        for line in (log / f"{version:020d}.json").read_text().splitlines():
            adds += [json.loads(line)["add"]] if line.startswith('{"add"') else []
    vector = adds[2]["deletionVector"]
    rows = [{"add": {"path": adds[0]["path"], "deletionVector": None}, "sidecar": None}]
    rows += [{"add": {"path": adds[2]["path"], "deletionVector": vector}, "sidecar": None}]
    sidecars = [{"add": None, "sidecar": {"path": f"{each}.parquet"}} for each in "ab"]
    schema = pa.Table.from_pylist([*rows, *sidecars]).schema
    name, number = f"{2:020d}.checkpoint", uuid.uuid4()

    def write(path: Path, actions: list[dict[str, Any]]) -> None:
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(actions, schema), path)

    if form == "one file":
        write(log / f"{name}.parquet", rows)
    elif form == "parts":
        for part in (1, 2):
            write(log / f"{name}.{part:010d}.{2:010d}.parquet", [rows[part - 1]])
    else:
        for each, row in zip("ab", rows, strict=True):
            write(log / "_sidecars" / f"{each}.parquet", [row])
        if form == "sidecars":
            write(log / f"{name}.{number}.parquet", sidecars)
        else:
            lines = [json.dumps({"sidecar": each["sidecar"]}) for each in sidecars]
            (log / f"{name}.{number}.json").write_text("\n".join(lines))
    # Part of a checkpoint that is not there whole.
    write(log / f"{2:020d}.checkpoint.{1:010d}.{3:010d}.parquet", [])
    for version in range(3):
        (log / f"{version:020d}.json").unlink()
    names = [adds[0]["path"], adds[2]["path"]]
    assert logged_vectors(table, names) == {adds[2]["path"]: {**vector}}
    with pytest.raises(FileNotFoundError):
        logged_vectors(table, [*names, "another.parquet"])
