"""Batches are read from bytes in every format that a broker may still keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from aiokafka import codec
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st
from sluice.broker.record_batches import record_batches
from sluice.offsets.log_page import RecordBatch

EPOCH_AT, CRC_AT, LAST_DELTA_AT, COUNT_AT = 12, 17, 23, 57
TRANSACTIONAL = 16


def written(offsets: list[int], *, compression: int = 0, producer: int = -1) -> bytes:
    """A batch that begins at offset 0 and holds these records."""
    builder = DefaultRecordBatchBuilder(2, compression, producer >= 0, producer, 0, 0, 1 << 20)
    for offset in offsets:
        builder.append(offset, 1_700_000_000_000 + offset, b"key", b"value" * 9, [("h", None)])
    return bytes(builder.build())


def read(records: bytes) -> list[RecordBatch]:
    """The batches without their size, and what only their fingerprints are made of."""
    plain: dict[str, Any] = {"leader_epoch": -1, "checksum": None, "size": 0}
    return [replace(each, **plain) for each in record_batches(records)]


def fingerprint(records: bytes) -> str | None:
    (batch,) = record_batches(records)
    return batch.fingerprint


def test_a_full_batch_is_told_by_its_header() -> None:
    assert read(written([0, 1, 2])) == [RecordBatch(0, 3, False, False, -1, range(3))]


def test_a_transactional_batch_names_its_producer() -> None:
    (batch,) = read(written([0], producer=4711))
    assert (batch.is_transactional, batch.is_control, batch.producer_id) == (True, False, 4711)


def test_a_fingerprint_is_stored_so_it_stays_the_same_for_ever() -> None:
    records = bytearray(written([0, 1, 2]))
    records[:8] = (4711).to_bytes(8, "big")
    records[EPOCH_AT : EPOCH_AT + 4] = (7).to_bytes(4, "big")
    records[CRC_AT : CRC_AT + 4] = bytes.fromhex("00c0ffee")
    assert fingerprint(bytes(records)) == "qvTsVV"


def test_other_records_producers_epochs_and_offsets_change_the_fingerprint() -> None:
    one = written([0, 1, 2])
    later = bytearray(one)
    later[EPOCH_AT : EPOCH_AT + 4] = (1).to_bytes(4, "big")
    moved = bytearray(one)
    moved[:8] = (4711).to_bytes(8, "big")
    others = [written([0, 1]), written([0, 1, 2], producer=4711), bytes(later), bytes(moved)]
    assert fingerprint(one) == fingerprint(written([0, 1, 2]))
    assert len({fingerprint(each) for each in [one, *others]}) == 5


def test_batches_follow_each_other_and_a_cut_one_is_left_out() -> None:
    records = written([0, 1]) + written([0, 1, 2])
    assert [batch.next_offset for batch in read(records)] == [2, 3]
    assert sum(batch.size for batch in record_batches(records)) == len(records)
    for cut in range(1, len(written([0, 1, 2]))):
        assert [batch.next_offset for batch in read(records[:-cut])] == [2]
    assert read(b"") == []


@pytest.mark.parametrize("compression", [0, 1, 2, 3, 4])
@given(offsets=st.sets(st.integers(1, 3000), min_size=1))
def test_a_thinned_out_batch_tells_which_records_are_left(
    compression: int, offsets: set[int]
) -> None:
    kept = (0, *sorted(offsets))
    (batch,) = read(written(list(kept), compression=compression))
    assert tuple(batch.offsets) == kept
    assert batch.next_offset == kept[-1] + 1


def test_an_emptied_batch_keeps_its_offsets() -> None:
    header = bytearray(written([0], compression=4)[:61])
    header[8:12] = (61 - 12).to_bytes(4, "big")
    header[LAST_DELTA_AT : LAST_DELTA_AT + 4] = (9).to_bytes(4, "big")
    header[COUNT_AT : COUNT_AT + 4] = bytes(4)
    assert read(bytes(header)) == [RecordBatch(0, 10, False, False, -1, ())]


def test_headers_and_values_are_not_looked_at() -> None:
    """A header's name may be any bytes; librdkafka sends what it is given."""
    records = bytearray(written([0, 2]))
    at = records.index(b"\x02h\x01")
    records[at + 1] = 0xFF
    assert read(bytes(records))[0].offsets == (0, 2)


@pytest.mark.parametrize("cut", range(1, 130))
def test_a_broken_batch_is_refused(cut: int) -> None:
    records = bytearray(written([0, 5])[:-cut])
    records[8:12] = (len(records) - 12).to_bytes(4, "big")
    with pytest.raises(CorruptRecordException):
        read(bytes(records))


def test_an_unknown_codec_is_named() -> None:
    records = bytearray(written([0, 5]))
    records[22] |= 7
    with pytest.raises(UnsupportedCodecError, match="codec 7"):
        read(bytes(records))


@pytest.mark.parametrize(("magic", "compression"), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)])
def test_the_formats_before_kafka_0_11_are_read(magic: int, compression: int) -> None:
    builder = LegacyRecordBatchBuilder(magic, compression, 1 << 20)
    for offset in (0, 1, 2):
        builder.append(offset, 1_700_000_000_000, b"key", b"value" * 9)
    batches = list(record_batches(bytes(builder.build())))
    assert {each.fingerprint for each in batches} == {None}
    assert [at for batch in batches for at in batch.offsets] == [0, 1, 2]
    assert batches[-1].next_offset == 3


def test_codecs_are_installed() -> None:
    assert codec.has_snappy()
    assert codec.has_lz4()
    assert codec.has_zstd()
