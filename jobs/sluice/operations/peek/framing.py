"""Framing: which schema ids values name, if a schema registry's serialisers wrote them. Pure.

A look without a JVM: what a frame is, records are read by, is in jobs/jvm/frames/Frame.scala.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sluice.offsets.quantities import format_count

_LENGTH = 5
_IDS_TOLD = 5


def framing_text(values: Iterable[bytes]) -> str:
    """How many values begin with the byte 0 and an id of 4 bytes, and which ids; empty if none."""
    found = list(values)
    ids = Counter(
        int.from_bytes(each[1:_LENGTH], "big")
        for each in found
        if len(each) >= _LENGTH and each[0] == 0
    )
    if not ids:
        return ""
    told = ", ".join(str(each) for each, _ in ids.most_common(_IDS_TOLD))
    more = f" and {len(ids) - _IDS_TOLD} more" if len(ids) > _IDS_TOLD else ""
    return (
        f"{ids.total():,} of {format_count(len(found), 'value')} may be framed: schema id {told}"
        f"{more}. If a schema registry has these, name it: docs/schema-registry.md."
    )
