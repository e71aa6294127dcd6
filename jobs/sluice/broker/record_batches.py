"""Record batches, parsed from a broker's bytes: headers, and offsets where some are missing."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence

from aiokafka import codec
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.record.legacy_records import LegacyRecordBatch
from aiokafka.record.util import decode_varint

from sluice.offsets.log_page import RecordBatch

# Base offset, length, leader epoch, magic, crc, attributes, last offset delta, first and largest
# timestamp, producer id, producer epoch, base sequence, number of records (Kafka's documentation,
# Message Format: Record Batch)
_HEADER = struct.Struct(">qiibIhiqqqhii")
_LENGTH = struct.Struct(">qi")
_MAGIC_AT = 16
_CODEC, _TRANSACTIONAL, _CONTROL = 0x07, 0x10, 0x20

_DECODERS: Mapping[int, tuple[str, Callable[[bytes], bytes]]] = {
    1: ("gzip", codec.gzip_decode),
    2: ("snappy", codec.snappy_decode),
    3: ("lz4", codec.lz4_decode),
    4: ("zstd", codec.zstd_decode),
}


def record_batches(records: bytes) -> Iterator[RecordBatch]:
    """The complete batches of a fetch response; a truncated last one is left out."""
    at, view = 0, memoryview(records)
    while len(view) - at > _MAGIC_AT:
        _, length = _LENGTH.unpack_from(view, at)
        upto = at + _LENGTH.size + length
        if upto > len(view):
            return
        yield _batch(view[at:upto])
        at = upto


def _batch(raw: memoryview) -> RecordBatch:
    if raw[_MAGIC_AT] < 2:
        return _legacy_batch(raw)
    if len(raw) < _HEADER.size:
        raise CorruptRecordException(f"a batch of {len(raw)} bytes has no whole header")
    header = _HEADER.unpack_from(raw)
    base, _, epoch, _, checksum, attributes, delta, _, _, producer, _, _, count = header
    next_offset = base + delta + 1
    offsets: Sequence[int] = range(base, next_offset)
    # Only compaction removes records from a batch, and it keeps the batch's first and last offset
    # (same page); a full batch need not be decompressed.
    if count != len(offsets):
        offsets = tuple(_offsets(base, count, _records(raw, attributes & _CODEC)))
    control, transactional = bool(attributes & _CONTROL), bool(attributes & _TRANSACTIONAL)
    return RecordBatch(
        base, next_offset, control, transactional, producer, offsets, epoch, checksum, len(raw)
    )


def _legacy_batch(raw: memoryview) -> RecordBatch:
    """A batch written before Kafka 0.11: no transactions, no markers."""
    offsets = tuple(record.offset for record in LegacyRecordBatch(bytes(raw), raw[_MAGIC_AT]))
    return RecordBatch(offsets[0], offsets[-1] + 1, False, False, -1, offsets, size=len(raw))


def _records(raw: memoryview, compression: int) -> bytes:
    packed = bytes(raw[_HEADER.size :])
    if not compression or not packed:
        return packed
    if compression not in _DECODERS:
        raise UnsupportedCodecError(f"codec {compression}; expected one of {sorted(_DECODERS)}")
    name, decode = _DECODERS[compression]
    try:
        return decode(packed)
    except NotImplementedError as error:
        raise UnsupportedCodecError(f"{name} needs the package cramjam") from error


def _offsets(base: int, count: int, records: bytes) -> Iterator[int]:
    """The records' offsets, without reading keys and values.

    A record: length, attributes (one byte), timestamp delta, offset delta, and the rest, which is
    skipped (same page, Record).
    """
    buffer, at = bytearray(records), 0
    try:
        while at < len(buffer) and count:
            length, at = decode_varint(buffer, at)
            _, delta_at = decode_varint(buffer, at + 1)
            delta, _ = decode_varint(buffer, delta_at)
            yield base + delta
            at += length
            count -= 1
    except (ValueError, IndexError) as error:
        raise CorruptRecordException(f"batch at {base}: {error}") from error
    if count or at != len(buffer):
        raise CorruptRecordException(f"batch at {base}: its records do not end where it ends")
