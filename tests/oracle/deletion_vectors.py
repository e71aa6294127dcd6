"""The deletion vector of a data file: the places of its rows that the table no longer has.

As Delta's PROTOCOL has it: a RoaringBitmapArray in the log itself, or in a file beside the data.
"""

from __future__ import annotations

import struct
import uuid
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np

from tests.oracle.violation import Unjudgeable

MAGIC = 1681511377
WITH_RUNS, WITHOUT_RUNS = 12347, 12346
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
# An identifier of 16 bytes in Z85.
NAME = 20
# From here on a container is a map of 65,536 bits; below, a list of numbers.
MOST_LISTED = 4096


class Bytes:
    """Bytes that are read from their beginning on, little end first."""

    def __init__(self, stored: bytes) -> None:
        self.stored, self.at = stored, 0

    def number(self, form: str) -> int:
        (found,) = struct.unpack_from(f"<{form}", self.stored, self.at)
        self.at += struct.calcsize(f"<{form}")
        return int(found)

    def array(self, kind: str, count: int) -> np.ndarray:
        found = np.frombuffer(self.stored, kind, count, self.at)
        self.at += found.nbytes
        return found


def deleted_rows(root: Path, vector: dict[str, Any]) -> np.ndarray:
    """Places of the deleted rows in their file, from 0, sorted.

    Raises Unjudgeable if the vector is damaged, or does not have as many rows as it says.
    """
    try:
        rows = _bitmaps(Bytes(_stored(root, vector)))
    except (struct.error, ValueError) as error:
        raise Unjudgeable(f"{root}: deletion vector {vector} cannot be read: {error}") from error
    if len(rows) != vector["cardinality"]:
        raise Unjudgeable(f"{root}: deletion vector {vector}: found {len(rows)} rows")
    return rows


def z85_bytes(text: str) -> bytes:
    """Five letters stand for four bytes. Raises ValueError for another letter."""
    numbers = [Z85.index(letter) for letter in text]
    words = (numbers[at : at + 5] for at in range(0, len(numbers), 5))
    return b"".join(
        struct.pack(">I", sum(n * 85 ** (4 - place) for place, n in enumerate(word)))
        for word in words
    )


def _stored(root: Path, vector: dict[str, Any]) -> bytes:
    named, size = vector["pathOrInlineDv"], vector["sizeInBytes"]
    if vector["storageType"] == "i":
        return z85_bytes(named)[:size]
    if vector["storageType"] == "p":
        path = Path(unquote(urlparse(named).path))
    else:
        name = uuid.UUID(bytes=z85_bytes(named[-NAME:]))
        path = root / named[:-NAME] / f"deletion_vector_{name}.bin"
    held = path.read_bytes()[vector.get("offset") or 0 :]
    stored = held[4 : 4 + size]
    if held[:4] != struct.pack(">i", size) or len(stored) != size:
        raise ValueError(f"{path} does not hold {size} bytes there")
    if held[4 + size : 8 + size] != struct.pack(">I", zlib.crc32(stored)):
        raise ValueError(f"{path} has another checksum")
    return stored


def _bitmaps(stored: Bytes) -> np.ndarray:
    if stored.number("I") != MAGIC:
        raise ValueError("not a RoaringBitmapArray in the portable format")
    parts = [np.empty(0, np.int64)]
    for _ in range(stored.number("q")):
        high = stored.number("I") << 32
        parts += [high + low for low in _bitmap(stored)]
    return np.concatenate(parts)


def _bitmap(stored: Bytes) -> list[np.ndarray]:
    """The numbers of each container of one bitmap of 32 bits."""
    cookie = stored.number("I")
    if cookie & 0xFFFF == WITH_RUNS:
        count = (cookie >> 16) + 1
        bits = np.unpackbits(stored.array("<u1", (count + 7) // 8), bitorder="little")
        runs = bits[:count].astype(bool)
    elif cookie == WITHOUT_RUNS:
        count = stored.number("I")
        runs = np.zeros(count, bool)
    else:
        raise ValueError(f"cookie {cookie}")
    heads = stored.array("<u2", 2 * count).reshape(-1, 2).astype(np.int64)
    if not runs.any() or count >= 4:
        stored.array("<u4", count)
    return [
        (key << 16) + (_runs(stored) if run else _container(stored, most + 1))
        for (key, most), run in zip(heads.tolist(), runs, strict=True)
    ]


def _runs(stored: Bytes) -> np.ndarray:
    pairs = stored.array("<u2", 2 * stored.number("H")).reshape(-1, 2).astype(np.int64)
    return np.concatenate([np.arange(start, start + more + 1) for start, more in pairs])


def _container(stored: Bytes, rows: int) -> np.ndarray:
    if rows <= MOST_LISTED:
        return stored.array("<u2", rows).astype(np.int64)
    bits = np.unpackbits(stored.array("<u1", 8192), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64)
