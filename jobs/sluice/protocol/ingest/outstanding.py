"""Outstanding batches: what is left to land of a run's work, and how much that is."""

from __future__ import annotations

import logging

from sluice.errors import BackfillClosed
from sluice.offsets.batches import BatchReference
from sluice.progress.resources import PipelineResources
from sluice.progress.sequence_end import sequence_end

log = logging.getLogger(__name__)


def span_of_work(resources: PipelineResources, work: BatchReference) -> int | None:
    """How many offsets the planned batches of the work have.

    None where one of them replaces rows: whole files of the table are then read as well.
    """
    if not work:
        return 0
    first, last = work.batches[0], work.batches[-1]
    planned = resources.offsets.snapshot().batches(work.sequence, first, last=last)
    if any(each.mode == "replace" for each in planned):
        return None
    return sum(each.span for each in planned)


def outstanding(resources: PipelineResources, work: BatchReference) -> BatchReference:
    """The batches of the work that are not committed yet.

    Nothing is left of a generation that a reset closed: the forward lane is planned anew.
    Raises BackfillClosed for backfill batches that were not reread.
    """
    end = sequence_end(resources, work.sequence)
    left = work.above(end.last)
    if not left or not end.closed:
        return left
    if work.sequence.lane == "backfill":
        raise BackfillClosed(
            f"{left}: a reset has closed them, and they were not read again. If they are still"
            " needed, request them again: clear the whole run, or repeat the command."
        )
    log.info("%s: superseded by a reset, which closed its generation", left)
    return work.first(0)
