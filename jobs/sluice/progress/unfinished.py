"""An unfinished backfill: what is planned to be read again, and has not landed."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.progress.lane_state import LaneState


def unfinished_backfill(backfill: LaneState) -> Iterator[str]:
    """What waits for the next backfill, if anything."""
    if backfill.unfinished:
        named = ", ".join(map(str, backfill.unfinished))
        yield f"to be read again, not committed yet: {named}. The next backfill lands them."
