"""Step 2: land planned batches in order, one data commit each."""

from __future__ import annotations

import logging

from tenacity import (
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from sluice.errors import CommitConflict, CommitFailed, SluiceError, SparkFailed
from sluice.failpoints import reach
from sluice.lake.port import BatchAttempt, Lake, Undecodable
from sluice.offsets.batches import Batch, BatchReference, BatchSequence
from sluice.offsets.losses import RecordLoss
from sluice.progress.lane_state import read_unchecked, sequence_end
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.ingest.budget import require_within_budget
from sluice.protocol.plan.log_changes import readable_ranges, require_same_topics
from sluice.protocol.plan.log_identity import require_same_log, take_fingerprints

log = logging.getLogger(__name__)

# At a batch while others commit to the table.
_ATTEMPTS = 8


def ingest(parts: PipelineResources, work: BatchReference, lake: Lake) -> None:
    """Land the batches that are not committed yet; those that are, are passed over, and said so.

    In the backfill lane at least one of them: it makes way for a forward batch that waits.
    Raises DataLost, ResetNeeded, TooManyQuarantined, SparkFailed, CommitFailed or CommitUnknown.
    """
    lane = read_unchecked(parts, work.sequence.lane)
    if lane.sequence != work.sequence:
        log.warning("%s: superseded by %s: nothing to do", work, lane.sequence)
        return
    check_data_table(lane)
    last = lane.snapshot.receipts(work.sequence, newest=1)
    malformed_before = bool(last and last[-1].quarantined)
    prepared = False
    for number in work.batches:
        if number <= lane.committed:
            log.info("%s: already committed, nothing to do", work.sequence.batch(number))
            continue
        if not prepared:
            reach("spark started")
            _prepare(parts, lake)
            prepared = True
            if lane.last:
                require_same_log(parts, lane.data, lane.last, parts.kafka.state(parts.spec))
        batch = lane.history.batch(number)
        try:
            malformed_before = _land(parts, batch, lake, malformed_before)
        except _Superseded as closed:
            log.warning("%s", closed)
            return
        require_same_topics(batch, parts.kafka.state(parts.spec))
        if number < work.batches[-1] and _makes_way(parts, work.sequence):
            return


def _makes_way(parts: PipelineResources, sequence: BatchSequence) -> bool:
    """Whether a batch of fresh data waits while this lane reads old data again; says so."""
    if sequence.lane == "forward":
        return False
    waiting = read_unchecked(parts).unfinished
    if waiting:
        log.info("%s: %s goes first; the rest comes after it", sequence, waiting[0])
    return bool(waiting)


class _Crossed(CommitFailed):
    """Another commit came in between: the next attempt may be luckier."""


class _Superseded(Exception):
    """A reset has closed the generation of a batch before it could land."""


def _prepare(parts: PipelineResources, lake: Lake) -> None:
    if parts.data.exists():
        return
    try:
        lake.prepare()
    except Exception as problem:
        raise SparkFailed(
            f"the data table was not created. Spark stopped: {_first(problem)}"
        ) from problem


def _land(parts: PipelineResources, batch: Batch, lake: Lake, malformed_before: bool) -> bool:
    """Land one batch, again where others commit in between: each replacement needs them not to."""
    again = Retrying(
        retry=retry_if_exception_type(_Crossed),
        wait=wait_random_exponential(multiplier=1, max=20),
        stop=stop_after_attempt(_ATTEMPTS),
        before_sleep=before_sleep_log(log, logging.WARNING),
        reraise=True,
    )
    return again(_attempt, parts, batch, lake, malformed_before)


def _attempt(parts: PipelineResources, batch: Batch, lake: Lake, malformed_before: bool) -> bool:
    """Write one batch and read the log back. Returns whether records were undecodable."""
    if _committed(parts, batch) >= batch.number:
        log.info("%s: committed meanwhile, nothing to do", batch)
        return malformed_before
    reading = _reading(parts, batch)
    log.info("%s: reading %d offsets: %s", batch, batch.span, ", ".join(map(str, reading.ranges)))
    try:
        malformed = _write(parts, reading, lake, malformed_before)
        reach("commit landed")
    except SluiceError:
        raise
    except Exception as problem:
        # Whatever went wrong, only the table's log tells whether the commit landed.
        if _committed(parts, batch) < batch.number:
            if isinstance(problem, CommitConflict):
                raise _Crossed(f"{batch}: not committed: {problem}. Run again.") from problem
            raise SparkFailed(
                f"{batch}: not committed. Spark, reading from broker {parts.client.bootstrap},"
                f" stopped: {_first(problem)}"
            ) from problem
        if not _superseded(parts, reading):
            log.warning("%s: committed although Spark reported: %s", batch, _first(problem))
        return malformed_before
    if _committed(parts, batch) < batch.number:
        raise CommitFailed(
            f"{batch}: Spark reported success, but the data table's log does not hold the batch."
            " Run again."
        )
    if not _superseded(parts, reading):
        log.info("%s: committed", batch)
    return malformed


def _reading(parts: PipelineResources, batch: Batch) -> BatchAttempt:
    state = parts.kafka.state(parts.spec)
    # What retention has taken from a batch of the backfill lane was read before, and stays.
    policy = RecordLoss() if batch.sequence.lane == "backfill" else parts.spec.data_loss
    ranges = readable_ranges(batch, state, policy)
    return BatchAttempt(
        batch,
        tuple(ranges),
        fingerprints=take_fingerprints(parts, batch, state),
        # Asked only where it matters: it is a question to the broker for each topic.
        compacts=batch.mode == "replace"
        and any(parts.kafka.compacts(topic) for topic in {e.partition.topic for e in ranges}),
    )


def _committed(parts: PipelineResources, batch: Batch) -> int:
    """The last committed batch. Raises _Superseded when a reset has closed the sequence before."""
    end = sequence_end(parts, batch.sequence)
    if end.last < batch.number and end.closed:
        raise _Superseded(
            f"{batch}: superseded by a reset, which closed its generation at batch {end.last}:"
            " nothing to do"
        )
    return end.last


def _superseded(parts: PipelineResources, reading: BatchAttempt) -> bool:
    """Whether it was another attempt that committed the batch; says so."""
    landed = parts.data.snapshot().commit_of(reading.batch)
    if landed.attempt == reading.attempt:
        return False
    log.warning(
        "%s: superseded by version %d of the data table, which another attempt committed",
        reading,
        landed.version,
    )
    return True


def _write(
    parts: PipelineResources, reading: BatchAttempt, lake: Lake, malformed_before: bool
) -> bool:
    # What an earlier attempt has put aside may be decodable by now, with a mended schema.
    put_aside = parts.quarantine.snapshot().coordinates(reading.batch).count
    if not malformed_before and not put_aside:
        try:
            lake.land(reading)
        except Undecodable as first:
            log.warning("%s: undecodable: %s. Quarantine first, then the data", reading, first)
        else:
            return False
    if not parts.quarantine.exists():
        lake.prepare_quarantine()
    if _committed(parts, reading.batch) >= reading.batch.number:
        # By another attempt: the quarantine rows that belong to its commit stay as they are.
        return True
    found = lake.quarantine(reading)
    reach("quarantine written")
    require_within_budget(parts, reading, found)
    if found.undecodable:
        log.warning("%s: %d of %d in quarantine", reading, found.undecodable, found.records)
    lake.land_decodable(reading)
    return bool(found.undecodable)


def _first(problem: Exception) -> str:
    """The first line that says something, and the cause of it all."""
    lines = [line.strip(" \t:") for line in str(problem).splitlines() if line.strip()]
    first = next((line for line in lines if "Exception" in line or "[" in line), repr(problem))
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return " … ".join([first, *causes[-1:]])
