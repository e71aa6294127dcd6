"""The writing of one batch: its undecodable records first, then its one data commit.

An attempt only ever adds rows to the quarantine, with a ticket that is good once. Which attempt's
rows count, the data commit says; what others have added goes when the batch's quarantine is closed.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime

from sluice.errors import CommitConflict, SluiceError, TableRefused
from sluice.failpoints import reach
from sluice.lake.port import BatchAttempt, Lake, Undecodable
from sluice.offsets.batches import Batch
from sluice.offsets.quarantine_tickets import JudgedRecords, Ticket, next_ticket
from sluice.progress.resources import PipelineResources
from sluice.progress.ways_back import not_landed
from sluice.protocol.ingest.budget import judged_records, too_many_quarantined

log = logging.getLogger(__name__)


def write_batch(
    resources: PipelineResources, attempt: BatchAttempt, lake: Lake, undecodable_before: bool
) -> bool:
    """Make one attempt at a batch. Returns whether records were undecodable.

    Raises CommitConflict where another attempt came in between; TooManyQuarantined.
    """
    if not undecodable_before and not _attempts(resources, attempt.batch):
        try:
            lake.land(attempt)
        except Undecodable as first:
            log.info(
                "%s: cannot be decoded: %s. It is read once more, to put all such records into"
                " quarantine, then the others into the table",
                attempt,
                first,
            )
        else:
            return False
    ticket = take_ticket(resources, attempt.batch)
    attempt = replace(attempt, ticket=ticket)
    found = lake.quarantine(attempt)
    reach("quarantine written")
    judged = judged_records(resources, attempt, found)
    if resources.spec.quarantine.budget.for_lane(attempt.batch.sequence.lane).refuses(judged):
        _give_up(resources, attempt.batch, ticket, judged)
        raise too_many_quarantined(resources, attempt, judged, found.samples)
    if found.undecodable:
        log.warning("%s: %d of %d records quarantined", attempt, found.undecodable, found.records)
    lake.land_decodable(replace(attempt, undecodable=found.undecodable))
    return bool(found.undecodable)


def take_ticket(resources: PipelineResources, batch: Batch) -> Ticket:
    """The next ticket of a batch. Raises CommitConflict once its quarantine is closed.

    Raises TableRefused if the data table nevertheless lacks the batch: it is an older copy. Rows of
    an attempt that has given the batch up are removed first: the next one finds all reasons again.
    """
    quarantine = resources.quarantine.snapshot()
    stored, attempts = quarantine.number(batch.sequence), _attempts(resources, batch)
    now, latest = resources.clock.now(), max(attempts, default=None)
    ticket = next_ticket(batch, stored, now, latest)
    if ticket is None:
        _require_landed(resources, batch)
        raise CommitConflict(f"{batch}: its quarantine is closed")
    if latest is not None and quarantine.has_given_up(batch):
        quarantine.use(batch.sequence, stored, now, {str(batch): [latest]})
    return ticket


def _require_landed(resources: PipelineResources, batch: Batch) -> None:
    """Raises TableRefused for a data table that lacks a batch whose quarantine was closed.

    The quarantine is closed after the commit, or after the fence of a generation. So the data table
    is an older copy.
    """
    data = resources.data.snapshot()
    if data.committed(batch.sequence) < batch.number:
        raise TableRefused(f"{data.uri}: ", not_landed(batch.sequence, batch.number))


def _attempts(resources: PipelineResources, batch: Batch) -> list[datetime]:
    """The moments of the attempts at a batch that have rows in quarantine."""
    return sorted(resources.quarantine.snapshot().attempts([str(batch)]).get(str(batch), ()))


def _give_up(
    resources: PipelineResources, batch: Batch, ticket: Ticket, judged: JudgedRecords
) -> None:
    """Say that the attempt will never commit, so that the next one may remove its rows."""
    quarantine = resources.quarantine.snapshot()
    try:
        quarantine.give_up(batch, ticket, judged, resources.clock.now())
    except (CommitConflict, SluiceError) as problem:
        log.info("%s: its rows stay until the batch is committed: %s", batch, problem)
