"""Deletion vectors: which rows of a file are deleted, as Delta's PROTOCOL.md stores it."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sluice.errors import TableRefused
from sluice.tables.table_files import files_in, files_of_table

_PORTABLE = 1681511377
_WITH_RUNS, _WITHOUT_RUNS = 12347, 12346
_OFFSETS_FROM = 4  # containers
_ARRAY, _BITMAP = 4096, 8192  # values of a container at most; bytes
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

_Numbers = npt.NDArray[np.int64]


def kept_rows(uri: str, vector: Mapping[str, Any]) -> bytes:
    """A byte for each row of the file up to the last deleted one: 1 where it stays.

    Raises TableRefused for a vector that is damaged, FileNotFoundError where its file is gone.
    """
    try:
        deleted = _numbers(_stored(uri, vector))
    except (struct.error, ValueError, IndexError) as problem:
        raise _damaged(uri, vector, str(problem)) from problem
    if len(deleted) != vector["cardinality"]:
        raise _damaged(uri, vector, f"it holds {len(deleted)} rows")
    kept = np.ones(int(deleted.max(initial=-1)) + 1, dtype=np.uint8)
    kept[deleted] = 0
    return kept.tobytes()


def _damaged(uri: str, vector: Mapping[str, Any], why: str) -> TableRefused:
    return TableRefused(
        f"{uri}: deletion vector {vector['pathOrInlineDv']}: expected {vector['cardinality']}"
        f" deleted rows, found a vector that cannot be read: {why}. RESTORE the table to the"
        " version before it, or put a copy back."
    )


def _stored(uri: str, vector: Mapping[str, Any]) -> bytes:
    """The bytes of a vector: inline, in a file of the table, or in one elsewhere."""
    where, size = vector["pathOrInlineDv"], vector["sizeInBytes"]
    if vector["storageType"] == "i":
        return _z85(where)[:size]
    if (path := path_in_table(vector)) is not None:
        file = files_of_table(uri).open_input_file(path)
    else:
        place, _, name = unquote(where.removeprefix("file:")).rpartition("/")
        file = files_in(place).open_input_file(name)
    with file:
        file.seek(vector["offset"])
        (found,) = struct.unpack(">i", file.read(4))
        if found != size:
            raise ValueError(f"its file says {found} bytes, its commit {size}")
        stored: bytes = file.read(size)
    return stored


def path_in_table(vector: Mapping[str, Any]) -> str | None:
    """The file of the table that has the vector; None for one that is inline or elsewhere."""
    if vector["storageType"] != "u":
        return None
    where: str = vector["pathOrInlineDv"]
    return f"{where[:-20]}/deletion_vector_{UUID(bytes=_z85(where[-20:]))}.bin".lstrip("/")


def _z85(text: str) -> bytes:
    found = b""
    for at in range(0, len(text), 5):
        number = 0
        for each in text[at : at + 5]:
            number = number * 85 + _Z85.index(each)
        found += struct.pack(">I", number)
    return found


def _numbers(stored: bytes) -> _Numbers:
    """The rows of a 64-bit Roaring bitmap in the portable format."""
    magic, bitmaps = struct.unpack_from("<iq", stored)
    if magic != _PORTABLE:
        raise ValueError(f"its format is {magic}")
    found, at = [np.zeros(0, dtype=np.int64)], 12
    for _ in range(bitmaps):
        (high,) = struct.unpack_from("<I", stored, at)
        low, at = _bitmap(stored, at + 4)
        found += [(high << 32) + each for each in low]
    return np.concatenate(found)


def _bitmap(stored: bytes, at: int) -> tuple[list[_Numbers], int]:
    """The rows of a 32-bit Roaring bitmap, by container, and where it ends."""
    (cookie,) = struct.unpack_from("<I", stored, at)
    runs, at = b"", at + 4
    if cookie & 0xFFFF == _WITH_RUNS:
        size = (cookie >> 16) + 1
        runs = stored[at : at + (size + 7) // 8]
        at += len(runs)
    elif cookie == _WITHOUT_RUNS:
        (size,) = struct.unpack_from("<I", stored, at)
        at += 4
    else:
        raise ValueError(f"its bitmap begins with {cookie}")
    header = np.frombuffer(stored, "<u2", 2 * size, at).reshape(size, 2).astype(np.int64)
    at += 4 * size
    if not runs or size >= _OFFSETS_FROM:
        at += 4 * size
    found = []
    for number, (key, last) in enumerate(header.tolist()):
        has_runs = bool(runs) and bool(runs[number // 8] >> number % 8 & 1)
        low, at = _container(stored, at, last + 1, has_runs)
        found.append((key << 16) + low)
    return found, at


def _container(stored: bytes, at: int, count: int, has_runs: bool) -> tuple[_Numbers, int]:
    if has_runs:
        (pairs,) = struct.unpack_from("<H", stored, at)
        return np.concatenate(list(_runs(stored, at + 2, pairs))), at + 2 + 4 * pairs
    if count <= _ARRAY:
        return np.frombuffer(stored, "<u2", count, at).astype(np.int64), at + 2 * count
    bits = np.unpackbits(np.frombuffer(stored, np.uint8, _BITMAP, at), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64), at + _BITMAP


def _runs(stored: bytes, at: int, pairs: int) -> Iterator[_Numbers]:
    for first, more in np.frombuffer(stored, "<u2", 2 * pairs, at).reshape(pairs, 2).tolist():
        yield np.arange(first, first + more + 1, dtype=np.int64)
