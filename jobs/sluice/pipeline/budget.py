"""The budget: how many records of a batch may be undecodable before it fails."""

from __future__ import annotations

from sluice.errors import TooManyMalformed, joined
from sluice.landing import Malformed, Reading
from sluice.pipeline.parts import Parts
from sluice.pipeline.quarantined import read_quarantined
from sluice.planning.aside import State


def require_within_budget(parts: Parts, reading: Reading, found: Malformed) -> None:
    """What was in quarantine before is no news: the budget is for what was not.

    Raises TooManyMalformed with samples and the next move.
    """
    allowed = parts.spec.quarantine.max_ratio
    if found.undecodable - _known(parts, reading) <= allowed * found.records:
        return
    raise TooManyMalformed(
        joined(
            [
                f"{reading}: {found.undecodable} of {found.records} records are undecodable;"
                f" allowed: {allowed:.2%} (quarantine.max_ratio). Nothing was committed. Samples:",
                *found.samples,
                f"`sluice quarantine list {parts.spec.pipeline}` shows all reasons. Mend the"
                " schema in the spec, or raise quarantine.max_ratio, and run again.",
            ]
        )
    )


def _known(parts: Parts, reading: Reading) -> int:
    """How many of the offsets are in quarantine, and count, because of earlier batches."""
    if not reading.replaces:
        return 0
    ranges = {
        (each.topic_id, each.offsets.partition): each.offsets for each in reading.batch.ranges
    }
    return sum(
        place.start <= row.offset < place.end
        for row in read_quarantined(parts).of(State.LIVE)
        if (place := ranges.get((row.topic_id, row.partition)))
    )
