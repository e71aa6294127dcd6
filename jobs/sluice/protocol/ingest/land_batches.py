"""Step 2: land planned batches in order, one data commit each."""

from __future__ import annotations

import logging
import time

from sluice.errors import CommitConflict, CommitFailed, OffsetsDamaged, SluiceError, SparkFailed
from sluice.failpoints import reach
from sluice.lake.port import BatchAttempt, Lake
from sluice.lake.spark_message import spark_message
from sluice.moves import Move
from sluice.offsets.batches import Batch, BatchReference, BatchSequence
from sluice.offsets.quantities import format_count, format_ranges
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import while_crossed
from sluice.progress.sequence_end import SequenceEnd, batch_end
from sluice.progress.unaltered import check_data_table
from sluice.protocol.ingest.reading import prepare_reading
from sluice.protocol.ingest.write_batch import write_batch
from sluice.protocol.plan.doubts import require_due_decided, require_no_doubt
from sluice.tables.batch_commits import BatchCommit

log = logging.getLogger(__name__)


def ingest(resources: PipelineResources, work: BatchReference, lake: Lake) -> None:
    """Land the batches that are not committed yet; log and pass over those that are.

    The backfill lane lands at least one, then yields to any unfinished forward batch.
    Raises as `plan` does, TooManyQuarantined, SparkFailed or CommitUnknown.
    """
    lane = read_unchecked(resources, work.sequence.lane)
    if lane.sequence != work.sequence:
        log.warning("%s: superseded by %s: nothing to do", work, lane.sequence)
        return
    check_data_table(lane)
    undecodable_before = any(
        each.quarantined for each in lane.receipts if each.batch.sequence == work.sequence
    )
    prepared = False
    for number in work.batches:
        if number <= lane.committed:
            log.info("%s: already committed, nothing to do", work.sequence.batch(number))
            continue
        if not prepared:
            # A retry of this task alone: no plan has looked at what it has landed before.
            require_due_decided(resources, lane)
            reach("spark started")
            _prepare(resources, lake, new=not lane.known.table_ids)
            prepared = True
        batch = _planned(lane, number)
        try:
            undecodable_before = _land(resources, batch, lake, undecodable_before)
        except _Superseded as closed:
            log.warning("%s", closed)
            return
        require_no_doubt(resources, batch)
        if number < work.batches[-1] and _must_yield(resources, work.sequence):
            return


def _planned(lane: LaneState, number: int) -> Batch:
    if number > lane.history.planned:
        raise OffsetsDamaged(
            f"{lane.sequence.batch(number)}: expected its plan in the offsets table, found"
            f" {lane.history.planned} planned batches: an older copy of the table was put back, or"
            " the pipeline began anew. Plan again: clear `plan` as well, or ",
            Move("run", (lane.pipeline,)),
            ".",
        )
    return lane.history.batch(number)


def _must_yield(resources: PipelineResources, sequence: BatchSequence) -> bool:
    """Whether this is a backfill and a forward batch is unfinished; logs it."""
    if sequence.lane == "forward":
        return False
    waiting = read_unchecked(resources).unfinished
    if waiting:
        log.info("%s: yields to %s; the rest follows", sequence, waiting[0])
    return bool(waiting)


class _ConflictedAttempt(CommitFailed):
    """Another commit came in between: the next attempt may land."""


class _Superseded(Exception):
    """A reset closed the generation of a batch before the batch landed."""


def _prepare(resources: PipelineResources, lake: Lake, new: bool) -> None:
    """Create the tables of a new pipeline; align the data table of a known one.

    The quarantine table is there before the first data commit: what is not there cannot be closed.
    """
    try:
        if resources.data.exists() != new:
            (lake.prepare if new else lake.align)()
        if resources.data.exists() and not resources.quarantine.exists():
            lake.prepare_quarantine()
    except SluiceError:
        raise
    except Exception as problem:
        raise SparkFailed(
            "the tables were not created, or not given the properties and comments of the spec."
            f" Spark stopped: {spark_message(problem)}"
        ) from problem


def _land(resources: PipelineResources, batch: Batch, lake: Lake, undecodable_before: bool) -> bool:
    """Land one batch. A replacement conflicts with any commit in between: then it is retried."""
    retrying = while_crossed(resources, _ConflictedAttempt, log)
    return retrying(_land_once, resources, batch, lake, undecodable_before)


def _land_once(
    resources: PipelineResources, batch: Batch, lake: Lake, undecodable_before: bool
) -> bool:
    """Write one batch and read the Delta log back. Returns whether records were undecodable."""
    forward = read_unchecked(resources)
    last = _require_open(batch, forward.end_of(batch.sequence))
    if last >= batch.number:
        log.info("%s: committed meanwhile, nothing to do", batch)
        return undecodable_before
    _require_next(batch, last)
    attempt, began = prepare_reading(resources, forward, batch), time.monotonic()
    log.info("%s: reading %d offsets: %s", batch, batch.span, format_ranges(attempt.ranges))
    try:
        undecodable = write_batch(resources, attempt, lake, undecodable_before)
        reach("commit landed")
    except SluiceError:
        raise
    except Exception as problem:
        # Whatever went wrong, only the Delta log shows whether the commit landed.
        if _last_committed(resources, batch) < batch.number:
            if isinstance(problem, CommitConflict):
                raise _ConflictedAttempt(
                    f"{batch}: not committed: {problem}. Run again."
                ) from problem
            raise _stopped(resources, batch, problem) from problem
        if _own_commit(resources, attempt):
            log.warning("%s: committed although Spark reported: %s", batch, spark_message(problem))
        return undecodable_before
    if _last_committed(resources, batch) < batch.number:
        raise CommitFailed(
            f"{batch}: Spark reported success, but the data table's log does not hold the batch."
            " Run again."
        )
    if commit := _own_commit(resources, attempt):
        rows, seconds = format_count(commit.rows, "row"), time.monotonic() - began
        # It also counts the rows of others, in files that were written anew.
        moved = ", those of rewritten files among them" if attempt.replaces else ""
        log.info("%s: committed, %s in %.1f s%s", batch, rows, seconds, moved)
    return undecodable


def _stopped(resources: PipelineResources, batch: Batch, problem: Exception) -> SparkFailed:
    return SparkFailed(
        f"{batch}: not committed. Spark, reading from broker {resources.client.bootstrap},"
        f" stopped: {spark_message(problem)}. Run again; if it stops at the same batch"
        ' each time: docs/operations.md, "A record that stops the line".'
    )


def _last_committed(resources: PipelineResources, batch: Batch) -> int:
    """The last committed batch. Raises _Superseded if a reset closed the sequence before."""
    return _require_open(batch, batch_end(resources, batch))


def _require_open(batch: Batch, end: SequenceEnd) -> int:
    if end.last < batch.number and end.closed:
        raise _Superseded(
            f"{batch}: superseded by a reset, which closed its generation at batch {end.last}:"
            " nothing to do"
        )
    return end.last


def _require_next(batch: Batch, last: int) -> None:
    """Raises CommitFailed if the table lacks the batch before: its number would hide the hole."""
    if last < batch.number - 1:
        raise CommitFailed(
            f"{batch}: expected {batch.sequence.batch(batch.number - 1)} to be committed before it,"
            f" found batch {last} the last one: an older copy of the table was put back while the"
            " run was at work. Nothing was committed; run again."
        )


def _own_commit(resources: PipelineResources, attempt: BatchAttempt) -> BatchCommit | None:
    """The batch's commit, unless another attempt made it; logs that."""
    landed = resources.data.snapshot().log.commit_of(attempt.batch)
    if landed is not None and landed.attempt != attempt.id:
        log.warning(
            "%s: superseded by version %d of the data table, which another attempt committed",
            attempt,
            landed.version,
        )
        return None
    return landed
