"""Which message of its schema a record is: Confluent's bytes, and any others."""

from __future__ import annotations

import contextlib
import io

import pytest
from confluent_kafka.schema_registry.serde import SchemaId
from hypothesis import given
from hypothesis import strategies as st
from sluice.lake.decoding.message_indexes import split_indexes


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=8), st.binary(max_size=8))
def test_what_confluents_serialiser_writes_is_read(indexes: list[int], body: bytes) -> None:
    out = io.BytesIO()
    SchemaId._encode_varints(out, indexes, zigzag=True)
    framed = out.getvalue() + body
    assert split_indexes(framed) == (tuple(indexes), len(framed) - len(body))


@given(st.binary(max_size=30))
def test_any_bytes_are_indexes_or_an_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        _, length = split_indexes(data)
        assert 0 < length <= len(data)


@pytest.mark.parametrize(
    "data", [b"", b"\x02", b"\x80", b"\x01", b"\xfe\xff\xff\xff\xff\x0f", b"\xff" * 11]
)
def test_what_is_cut_or_negative_or_too_many_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="expected"):
        split_indexes(data)
