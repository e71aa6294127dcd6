"""Offset bits: which offsets of a range, as compressed text with a bit for each. Pure."""

from __future__ import annotations

import base64
import binascii
import zlib

import numpy as np

from sluice.offsets.ranges import OffsetRange
from sluice.offsets.row_offsets import NO_ROWS, Offsets


def packed(within: OffsetRange, offsets: Offsets) -> str:
    """Those of the offsets that lie in the range, as text; empty without any."""
    offsets = offsets[(offsets >= within.start) & (offsets < within.end)]
    if not len(offsets):
        return ""
    bits = np.zeros(within.span, dtype=bool)
    bits[offsets - within.start] = True
    return base64.b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def unpacked(within: OffsetRange, text: str | None) -> Offsets:
    """The offsets that `packed` was given, ascending. Raises ValueError for text of others."""
    if text is None:
        return NO_ROWS.offsets
    size, decompressing = (within.span + 7) // 8, zlib.decompressobj()
    try:
        content = decompressing.decompress(base64.b64decode(text, validate=True), size + 1)
    except (zlib.error, binascii.Error, ValueError):
        content = b""
    if len(content) != size:
        raise ValueError(f"{within}: expected a bit for each offset, found other text")
    bits = np.unpackbits(np.frombuffer(content, np.uint8), count=within.span)
    return np.flatnonzero(bits).astype(np.int64) + within.start
