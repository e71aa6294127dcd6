"""Dropping: somebody decides that quarantined records are to be forgotten, and says why.

First the loss records, then the rows: a drop that was cut short is completed by the next one, or by
maintenance. The loss records name the batch, so that records which are read again count again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from sluice.errors import CommitFailed
from sluice.failpoints import reach
from sluice.landing import Conflicted
from sluice.pipeline.altered import require_unaltered
from sluice.pipeline.parts import Parts
from sluice.pipeline.quarantined import Quarantined, read_quarantined
from sluice.planning.aside import Choice
from sluice.planning.drops import Drop, decide_drop
from sluice.tables.offsets_rows import Origin
from sluice.tables.overtaken import Overtaken
from sluice.upkeep import Upkeep

log = logging.getLogger(__name__)

_ATTEMPTS = 10

OpenUpkeep = Callable[[], AbstractContextManager[Upkeep]]
"""Starts Spark: asked only when there are rows to take away."""


def preview_drop(parts: Parts, choice: Choice) -> Drop:
    """What a drop would record and take away; nothing is written."""
    return _decide(parts, read_quarantined(parts), choice, "")


def drop(
    parts: Parts, choice: Choice, reason: str, origin: Origin, open_upkeep: OpenUpkeep
) -> Drop:
    """Make it so. Raises CommitFailed when others were always faster, and as `settle` does."""
    decided = _record(parts, choice, reason, origin)
    if decided.rows:
        try:
            with open_upkeep() as upkeep:
                upkeep.remove_quarantined(decided.rows)
        except Conflicted as crossed:
            raise CommitFailed(
                f"{parts.spec.pipeline}: the decision is recorded, and the rows count no more, but"
                f" they are there still: {crossed}. Run again."
            ) from crossed
    return replace(decided, done=True)


def _record(parts: Parts, choice: Choice, reason: str, origin: Origin) -> Drop:
    cause = f"dropped from quarantine by {origin.actor}: {reason}"
    for _ in range(_ATTEMPTS):
        found = read_quarantined(parts)
        decided = _decide(parts, found, choice, cause)
        if not decided.losses:
            return decided
        try:
            found.snapshot.append_drop(decided, origin)
        except Overtaken:
            log.info("%s: somebody else has just dropped records", parts.spec.pipeline)
            continue
        reach("drop recorded")
        return decided
    raise CommitFailed(
        f"{parts.spec.pipeline}: {_ATTEMPTS} times in a row another process dropped records."
        " Run again when it is done."
    )


def _decide(parts: Parts, found: Quarantined, choice: Choice, cause: str) -> Drop:
    require_unaltered(parts, found.snapshot, found.history.sequence)
    chosen = [row for row in found.rows if row in choice]
    history = found.history
    return decide_drop(history.sequence, history.cluster_id, found.rows, chosen, cause)
