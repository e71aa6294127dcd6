"""The budget: how many records of a batch may be undecodable before it fails."""

from __future__ import annotations

from sluice.errors import TooManyMalformed, joined
from sluice.landing import Malformed, Reading
from sluice.pipeline.parts import Parts
from sluice.pipeline.quarantined import read_quarantined
from sluice.planning.aside import Aside, State


def require_within_budget(parts: Parts, reading: Reading, found: Malformed) -> None:
    """What was in quarantine before is no news: the budget is for what was not.

    Raises TooManyMalformed with samples and the next move.
    """
    allowed = parts.spec.quarantine.max_ratio
    news = _news(parts, reading) if reading.replaces else found.undecodable
    if news <= allowed * found.records:
        return
    raise TooManyMalformed(
        joined(
            [
                f"{reading}: {news} of {found.records} records are undecodable"
                f"{', and were not before' if reading.replaces else ''}; allowed: {allowed:.2%}"
                " (quarantine.max_ratio). Nothing was committed. Samples:",
                *found.samples,
                f"`sluice quarantine list {parts.spec.pipeline}` shows all reasons. Mend the"
                " schema in the spec, or raise quarantine.max_ratio, and run again.",
            ]
        )
    )


def _news(parts: Parts, reading: Reading) -> int:
    """How many offsets the attempt has put aside that no earlier batch had put aside."""
    rows = read_quarantined(parts).rows
    known = {_place(row) for row in rows if row.state in (State.LIVE, State.DROPPED)}
    mine = {_place(row) for row in rows if row.batch == str(reading.batch)}
    return len(mine - known)


def _place(row: Aside) -> tuple[str, int, int]:
    return row.topic_id, row.partition.partition, row.offset
