"""Filtered offsets: those whose records a pipeline's `only` leaves out, as its commits say. Pure.

A commit has a bit for each offset of a range, compressed: which offsets were left out is known
exactly, so that a record that is missing is never taken for one of them.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.row_offsets import NO_ROWS, Offsets


@dataclass(frozen=True)
class FilteredOffsets:
    """The offsets of a batch's ranges that it left out, packed; empty where it left out none."""

    packed: Mapping[TopicPartition, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, ranges: Iterable[OffsetRange], left_out: Mapping[TopicPartition, Offsets]
    ) -> FilteredOffsets:
        """Pack the offsets that lie in the ranges: of each partition there is one range."""
        found: dict[TopicPartition, str] = {}
        for each in ranges:
            offsets = left_out.get(each.partition, NO_ROWS.offsets)
            offsets = offsets[(offsets >= each.start) & (offsets < each.end)]
            if len(offsets):
                found[each.partition] = _packed(each, offsets)
        return cls(found)

    @classmethod
    def read(cls, stored: Any) -> FilteredOffsets:
        """What `as_dict` gave; nothing where there is none."""
        return cls(
            {
                TopicPartition(topic, int(partition)): text
                for topic, partitions in (stored or {}).items()
                for partition, text in partitions.items()
            }
        )

    def as_dict(self) -> dict[str, dict[str, str]]:
        """As JSON has it: by topic and partition."""
        found: dict[str, dict[str, str]] = {}
        for partition, text in sorted(self.packed.items()):
            found.setdefault(partition.topic, {})[str(partition.partition)] = text
        return found

    def within(self, offsets: OffsetRange) -> Offsets:
        """Those of a range of the batch, ascending. Raises ValueError for text of others."""
        text = self.packed.get(offsets.partition)
        return NO_ROWS.offsets if text is None else _unpacked(offsets, text)

    def __bool__(self) -> bool:
        return bool(self.packed)


NOTHING_FILTERED = FilteredOffsets()


def _packed(within: OffsetRange, offsets: Offsets) -> str:
    bits = np.zeros(within.span, dtype=bool)
    bits[offsets - within.start] = True
    return base64.b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def _unpacked(within: OffsetRange, text: str) -> Offsets:
    size, decompressing = (within.span + 7) // 8, zlib.decompressobj()
    try:
        content = decompressing.decompress(base64.b64decode(text, validate=True), size + 1)
    except (zlib.error, binascii.Error, ValueError):
        content = b""
    if len(content) != size:
        raise ValueError(f"{within}: expected a bit for each offset, found other text")
    bits = np.unpackbits(np.frombuffer(content, np.uint8), count=within.span)
    return np.flatnonzero(bits).astype(np.int64) + within.start


def told(count: int) -> str:
    """The count behind others in a line; empty for none."""
    return f", {count:,} filtered" if count else ""


def as_key(count: int) -> dict[str, int]:
    """The count as a part of a document; nothing for none."""
    return {"filtered": count} if count else {}
