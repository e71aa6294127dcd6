"""Packed values: compressions and frames as libraries write them that share no code with ours."""

from __future__ import annotations

import gzip
import io
import uuid
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cramjam
import fastavro
import zstandard
from fastavro.schema import fingerprint, to_parsing_canonical_form


def _snappy_of_java(value: bytes) -> bytes:
    """As snappy-java's streams are: a header, then blocks, each after its length."""
    blocks = [value[at : at + 16] for at in range(0, len(value), 16)]
    packed = [bytes(cramjam.snappy.compress_raw(each)) for each in blocks]
    header = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2
    return header + b"".join(len(each).to_bytes(4, "big") + each for each in packed)


def gzip_with_name(value: bytes) -> bytes:
    """With what a header may have: a name and a checksum of its own."""
    stream = io.BytesIO()
    with gzip.GzipFile("orders.json", "wb", fileobj=stream, mtime=0) as file:
        file.write(value)
    return stream.getvalue()


def _zstd_of_unknown_size(value: bytes) -> bytes:
    packing = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return packing.compress(value) + packing.flush()


COMPRESSIONS: Mapping[str, Sequence[Callable[[bytes], bytes]]] = {
    "gzip": [
        lambda value: gzip.compress(value, mtime=0),
        gzip_with_name,
        lambda value: gzip.compress(value[:3], mtime=0) + gzip.compress(value[3:], mtime=0),
    ],
    "zlib": [zlib.compress, lambda value: zlib.compress(value, 0)],
    "zstd": [
        zstandard.compress,
        _zstd_of_unknown_size,
        lambda value: zstandard.compress(value[:3]) + zstandard.compress(value[3:]),
    ],
    "snappy": [
        lambda value: bytes(cramjam.snappy.compress(value)),
        lambda value: bytes(cramjam.snappy.compress_raw(value)),
        _snappy_of_java,
    ],
    "lz4": [
        lambda value: bytes(cramjam.lz4.compress(value)),
        lambda value: b"".join(
            bytes(cramjam.lz4.compress(each)) for each in (value[:3], value[3:])
        ),
    ],
}
"""By their names in a spec, each in all the ways in which producers write it."""

SCHEMA_ID = uuid.UUID("b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63")


def in_glue(payload: bytes, packed: bool = False) -> bytes:
    """In AWS Glue's frame."""
    body = zlib.compress(payload) if packed else payload
    return b"\x03" + (b"\x05" if packed else b"\x00") + SCHEMA_ID.bytes + body


def in_confluents(payload: bytes, number: int = 7, indexes: bytes = b"") -> bytes:
    """In Confluent's frame."""
    return b"\x00" + number.to_bytes(4, "big") + indexes + payload


def as_single_object(schema: Any, value: Any) -> bytes:
    """As Avro's single object: fastavro reads the fingerprint, of Rabin, from its last byte on."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    found = fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO")
    return b"\xc3\x01" + bytes.fromhex(found) + stream.getvalue()


def as_container(schema: Any, values: Sequence[Any], codec: str = "null") -> bytes:
    """As a container file of Avro."""
    stream = io.BytesIO()
    parsed = fastavro.parse_schema(schema)
    fastavro.writer(stream, parsed, values, codec=codec, sync_marker=b"between blocks: ")
    return stream.getvalue()


def as_zstandard_container(schema: Any, value: Any) -> bytes:
    """A file of one short record, whose only block is compressed anew: fastavro writes no such."""
    plain, datum = as_container(schema, [value]), io.BytesIO()
    mark = plain[-16:]
    header, *_ = plain.split(mark)
    fastavro.schemaless_writer(datum, fastavro.parse_schema(schema), value)
    packed = zstandard.compress(datum.getvalue())
    assert len(packed) < 64, "its length is one byte"
    named = header.replace(b"\x14avro.codec\x08null", b"\x14avro.codec\x12zstandard")
    return named + mark + bytes([2, 2 * len(packed)]) + packed + mark
