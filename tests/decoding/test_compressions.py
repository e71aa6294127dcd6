"""Compressions: what cannot be undone says why and where, and is never an error of the job."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.decoding.wraps_decoding import LIMIT, PAYLOADS, ROW, decoded, form
from tests.worlds.packed import COMPRESSIONS

pytestmark = pytest.mark.spark

ONE = PAYLOADS["json"]


def packed(name: str, way: int = 0, value: bytes = ONE) -> bytes:
    return COMPRESSIONS[name][way](value)


def _claims(length: bytes) -> bytes:
    """A block of Snappy that says that it becomes so long, and is not."""
    return length + packed("snappy", 1)[1:]


GZIP, ZLIB, ZSTD, LZ4 = map(packed, ("gzip", "zlib", "zstd", "lz4"))
BLOCK, OF_JAVA = packed("snappy", 1), packed("snappy", 2)
BROKEN: dict[str, dict[bytes, str]] = {
    "gzip": {
        b"": "not gzip: found no bytes",
        ONE: "not gzip: expected 1f8b08, found 7b2269 at byte 0",
        ZSTD: "not gzip: expected 1f8b08, found 28b52f at byte 0 (the value begins like zstd)",
        GZIP[:5]: "not gzip: found the end at byte 5",
        GZIP[:30]: "not gzip: found the end at byte 30",
        GZIP[:-3]: f"not gzip: found the end at byte {len(GZIP) - 3}",
        GZIP + b"\0": "not gzip: expected the end, or another member: 1f8b08, found 00"
        f" at byte {len(GZIP)}",
        GZIP[:3] + b"\xe0" + GZIP[4:]: "not gzip: found unknown flags at byte 3",
        GZIP[:-8] + b"\0\0\0\0" + GZIP[-4:]: "not gzip: found another checksum than that of the"
        f" content at byte {len(GZIP) - 8}",
        GZIP[:-4] + b"\0\0\0\0": "not gzip: found another length than that of the content"
        f" at byte {len(GZIP) - 4}",
        GZIP[:10] + b"\xff" + GZIP[11:]: "not gzip: invalid block type at byte",
        packed("gzip", value=bytes(80 << 20)): f"gzip: {LIMIT}",
    },
    "zlib": {
        b"": "not zlib: found no bytes",
        ONE: "not zlib: incorrect header check at byte",
        GZIP: "not zlib: incorrect header check at byte",
        ZLIB[:-2]: f"not zlib: found the end at byte {len(ZLIB) - 2}",
        ZLIB + b"xy": f"not zlib: expected the end, found more at byte {len(ZLIB)}",
        ZLIB[:-1] + b"\0": "not zlib: incorrect data check at byte",
        packed("zlib", value=bytes(80 << 20)): f"zlib: {LIMIT}",
    },
    "zstd": {
        ONE: "not zstd: Unknown frame descriptor in the frame at byte 0",
        ZSTD[:-2]: "not zstd: Src size is incorrect in the frame at byte 0",
        ZSTD + b"{}{}": f"not zstd: Unknown frame descriptor in the frame at byte {len(ZSTD)}",
        ZSTD + ZSTD[:6]: f"not zstd: Src size is incorrect in the frame at byte {len(ZSTD)}",
        packed("zstd", 1)[:-1] + b"\0": "not zstd: Restored data doesn't match checksum in the"
        " frame at byte 0",
        packed("zstd", value=bytes(80 << 20)): f"zstd: {LIMIT}",
    },
    "snappy": {
        b"": "not snappy: found no bytes",
        ONE: "not snappy: found no valid block at byte 0",
        BLOCK[:-2]: "not snappy: found no valid block at byte 0",
        BLOCK + b"x": "not snappy: found no valid block at byte 0",
        _claims(b"\xff\xff\xff\xff\x07"): "not snappy: found no valid block at byte 0",
        OF_JAVA[:10]: "not snappy: found the end at byte 10",
        OF_JAVA[:-1]: f"not snappy: found the end at byte {len(OF_JAVA) - 1}",
        OF_JAVA[:20] + b"\0" + OF_JAVA[21:]: "not snappy: found no valid block at byte 20",
        packed("snappy")[:-1]: "not snappy: ",
        packed("snappy") + b"\x02": "not snappy: ",
        packed("snappy", 0, bytes(80 << 20)): f"snappy: {LIMIT}",
        packed("snappy", 1, bytes(80 << 20)): f"snappy: {LIMIT}",
    },
    "lz4": {
        b"": "not lz4: found no bytes",
        ONE: "not lz4: ",
        LZ4[:-2]: f"not lz4: Premature end of stream while reading content checksum at"
        f" byte {len(LZ4) - 2}",
        LZ4 + b"x": "not lz4: ",
        packed("lz4", value=bytes(80 << 20)): f"lz4: {LIMIT}",
    },
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_unpacked_says_why_and_where(spark: SparkSession, name: str) -> None:
    found = decoded(spark, form("json", compression=name), list(BROKEN[name]))
    assert [
        (expected, error)
        for error, expected in zip(found, BROKEN[name].values(), strict=True)
        if not str(error).startswith(expected)
    ] == []
    assert all("at byte" in each or "at most" in each or "no bytes" in each for each in found)


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_whatever_is_cut_or_changed_lands_or_is_told(spark: SparkSession, name: str) -> None:
    values = []
    for way in COMPRESSIONS[name]:
        whole = way(ONE)
        values += [whole[:end] for end in range(len(whole))]
        values += [
            whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :] for at in range(len(whole))
        ]
    found = decoded(spark, form("json", compression=name), values)
    assert all(each == ROW or isinstance(each, str | dict) for each in found)
    # A cut between two members or blocks leaves what is whole there: no JSON object.
    cut = [
        error
        for value, error in zip(values, found, strict=True)
        if any(way(ONE).startswith(value) and value != way(ONE) for way in COMPRESSIONS[name])
    ]
    assert all(isinstance(each, str) for each in cut)
