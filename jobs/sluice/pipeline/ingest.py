"""Verb two: land planned batches in order, one data commit each."""

from __future__ import annotations

import logging

from sluice.errors import CommitFailed, SluiceError, SparkFailed, TooManyMalformed, joined
from sluice.failpoints import reach
from sluice.landing import Lake, Malformed, Undecodable
from sluice.pipeline.parts import Parts
from sluice.planning.batches import Batch
from sluice.planning.findings import readable
from sluice.planning.ranges import OffsetRange
from sluice.work import Work

log = logging.getLogger(__name__)


def ingest(parts: Parts, work: Work, lake: Lake) -> None:
    """Land the batches that are not committed yet; those that are, are passed over, and said so.

    Raises DataLost, ResetNeeded, TooManyMalformed, SparkFailed, CommitFailed or CommitUnknown.
    """
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    last = snapshot.receipts(work.sequence, newest=1)
    malformed_before = bool(last and last[-1].quarantined)
    prepared = False
    for number in work.batches:
        if number <= committed:
            log.info("%s: already committed, nothing to do", work.sequence.batch(number))
            continue
        if not prepared:
            reach("spark started")
            _prepare(parts, lake)
            prepared = True
        malformed_before = _land(parts, history.batch(number), lake, malformed_before)


def _prepare(parts: Parts, lake: Lake) -> None:
    if parts.data.exists():
        return
    try:
        lake.prepare()
    except Exception as problem:
        raise SparkFailed(
            f"the data table was not created. Spark stopped: {_first(problem)}"
        ) from problem


def _land(parts: Parts, batch: Batch, lake: Lake, malformed_before: bool) -> bool:
    """Land one batch and read the log back. Returns whether records were undecodable."""
    ranges = readable(batch, parts.kafka.state(parts.spec), parts.records_losses)
    log.info("%s: reading %d offsets: %s", batch, batch.span, ", ".join(map(str, ranges)))
    try:
        malformed = _write(parts, batch, ranges, lake, malformed_before)
        reach("commit landed")
    except SluiceError:
        raise
    except Exception as problem:
        # Whatever went wrong, only the table's log tells whether the commit landed.
        if parts.data.committed(batch.sequence) < batch.number:
            raise SparkFailed(
                f"{batch}: not committed. Spark stopped: {_first(problem)}"
            ) from problem
        log.warning("%s: committed although Spark reported: %s", batch, _first(problem))
        return malformed_before
    if parts.data.committed(batch.sequence) < batch.number:
        raise CommitFailed(
            f"{batch}: Spark reported success, but the data table's log does not hold the batch."
            " Run again."
        )
    log.info("%s: committed", batch)
    return malformed


def _write(
    parts: Parts, batch: Batch, ranges: list[OffsetRange], lake: Lake, malformed_before: bool
) -> bool:
    if not malformed_before:
        try:
            lake.land(batch, ranges)
        except Undecodable as first:
            log.warning("%s: undecodable: %s. Quarantine first, then the data", batch, first)
        else:
            return False
    found = lake.quarantine(batch, ranges)
    reach("quarantine written")
    _check_budget(parts.spec.quarantine.max_ratio, batch, found)
    if found.undecodable:
        log.warning("%s: %d of %d in quarantine", batch, found.undecodable, found.records)
    lake.land_decodable(batch, ranges)
    return bool(found.undecodable)


def _check_budget(max_ratio: float, batch: Batch, found: Malformed) -> None:
    if found.undecodable <= max_ratio * found.records:
        return
    raise TooManyMalformed(
        joined(
            [
                f"{batch}: {found.undecodable} of {found.records} records are undecodable; allowed:"
                f" {max_ratio:.2%} (quarantine.max_ratio). Nothing was committed. Samples:",
                *found.samples,
                "Mend the schema in the spec, or raise quarantine.max_ratio, and run again.",
            ]
        )
    )


def _first(problem: Exception) -> str:
    """The first line that says something."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return next((line for line in lines if "Exception" in line or "[" in line), repr(problem))
