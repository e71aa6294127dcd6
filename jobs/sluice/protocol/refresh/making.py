"""Making: the one commit of a span of a state table, and what its log says became of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from sluice.errors import (
    CommitConflict,
    CommitFailed,
    SluiceError,
    SparkFailed,
    StateStopped,
)
from sluice.failpoints import reach
from sluice.lake.port import NoOrder, RowWithoutKey, StateLake, TruncationWithoutOrder
from sluice.lake.spark_message import spark_message
from sluice.moves import Move
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import while_crossed
from sluice.protocol.refresh.due_span import DueSpan
from sluice.state_table.counts import NOTHING, StateCounts
from sluice.state_table.spans import Span
from sluice.tables.offsets_appends import append_known_state

log = logging.getLogger(__name__)

FindLake = Callable[[], StateLake]
Made = TypeVar("Made")


@dataclass(frozen=True)
class Followed:
    """A span that the state table has followed, and what that did to it."""

    span: Span
    counts: StateCounts

    def __str__(self) -> str:
        return f"{self.span} of the data table: {self.counts}"

    def as_dict(self) -> dict[str, object]:
        """For programs: the span's bounds, `after` excluded, its kind and the counts."""
        span = self.span
        bounds = {"after": span.after, "data_version": span.upto, "kind": span.kind}
        return {**bounds, **self.counts.as_dict()}


class Conflicted(CommitFailed):
    """Another commit came in between: the next attempt looks again."""


def until_alone(resources: PipelineResources, attempt: Callable[[], Made]) -> Made:
    """What the attempt returns, made again while others' commits come in between."""
    return while_crossed(resources, Conflicted, log)(attempt)


def make(resources: PipelineResources, due: DueSpan, lake: FindLake) -> Followed:
    """Follow the span, and read back where the state stands. Spark is opened only if needed.

    Raises Conflicted, StateStopped, SparkFailed or CommitFailed.
    """
    if not due.needs_spark:
        return make_unchanged(resources, due)
    log.info("%s: state: following %s", resources.spec.pipeline, due.span)
    try:
        if due.standing.is_new or not due.standing.is_known:
            # What it is made of is in the data table: only now it is known that there is one.
            _create(resources, due, lake())
        with _naming_stops(resources, due):
            counts = lake().follow(due.attempt)
        reach("state committed")
    except SluiceError:
        raise
    except Exception as problem:
        # Whatever went wrong, only the state table's log shows whether the commit landed.
        if not _stands(resources, due):
            raise _failed(resources, due, problem) from problem
        log.warning("%s: state: committed although Spark reported: %s", due.span, problem)
        return Followed(due.span, NOTHING)
    if _stands(resources, due):
        return Followed(due.span, counts)
    if counts.changed or due.attempt.gives_columns or due.span.kind == "everything":
        raise CommitFailed(
            f"{resources.state.uri}: Spark reported success, but the table's log does not hold the"
            " commit. Run again."
        )
    return _advance(resources, due, counts)


def require_possible(resources: PipelineResources, due: DueSpan, lake: StateLake) -> None:
    """Raises StateStopped where the log does not say how to follow the span; nothing is written."""
    log.info("%s: state: can it follow %s?", resources.spec.pipeline, due.span)
    with _naming_stops(resources, due):
        lake.foresee(due.attempt)


def make_unchanged(resources: PipelineResources, due: DueSpan) -> Followed:
    """Follow a span that needs no Spark. Raises Conflicted or CommitFailed."""
    return _advance(resources, due, NOTHING)


def _create(resources: PipelineResources, due: DueSpan, lake: StateLake) -> None:
    """Create the table unless it is there, and remember it before it has rows."""
    if due.standing.found is None:
        lake.create()
    if (table_id := resources.state.snapshot().table_id) is not None and not due.standing.is_known:
        reach("state created")
        append_known_state(resources.offsets.snapshot(), table_id)


def _advance(resources: PipelineResources, due: DueSpan, counts: StateCounts) -> Followed:
    """Say that the state stands at the end of a span that changed none of its rows."""
    try:
        commit = due.attempt.commit.counted(counts)
        due.standing.table.advance(commit, resources.clock.now())
    except CommitConflict as problem:
        raise Conflicted(f"{resources.state.uri}: {problem}. Run again.") from problem
    return Followed(due.span, counts)


def _stands(resources: PipelineResources, due: DueSpan) -> bool:
    found = resources.state.snapshot().stands_at
    return found is not None and found >= due.span.upto


def _failed(resources: PipelineResources, due: DueSpan, problem: Exception) -> SluiceError:
    where = f"{resources.state.uri}: {due.span} of the data table"
    if isinstance(problem, CommitConflict):
        return Conflicted(f"{where}: not committed: {problem}. Run again.")
    return SparkFailed(
        f"{where}: not committed. Spark stopped: {spark_message(problem)}. Run again; if it fails"
        " each time: docs/operations.md, The state table is refused."
    )


@contextmanager
def _naming_stops(resources: PipelineResources, due: DueSpan) -> Iterator[None]:
    try:
        yield
    except (NoOrder, TruncationWithoutOrder, RowWithoutKey) as problem:
        raise _stopped(resources, due, problem) from None


def _stopped(resources: PipelineResources, due: DueSpan, problem: Exception) -> StateStopped:
    """Why the state cannot follow the log, and what to write into the spec."""
    rebuild = Move("rebuild", (resources.spec.pipeline, "--execute"))
    where = f"{resources.state.uri}: {due.span} of the data table"
    if isinstance(problem, NoOrder):
        return StateStopped(
            f"{where}: expected the rows of a key in one partition, and of topics that are known to"
            f" have followed each other, found {problem}: offsets do not say which is newer. Name"
            " the columns that do in the spec, such as `state: {order_by: [_timestamp]}`; then ",
            rebuild,
            " makes the table by them. The data table goes on.",
        )
    if isinstance(problem, TruncationWithoutOrder):
        return StateStopped(
            f"{where}: expected no truncation without an order, found one in {problem}: nothing"
            " says which rows are below it. Name the columns that do in the spec, such as `state:"
            " {order_by: [_source_time]}`; then ",
            rebuild,
            " makes the table by them. Or, to keep those rows, delete the truncation's:"
            " docs/state.md, A truncation. The data table goes on.",
        )
    return StateStopped(
        f"{where}: expected a value in each column of the key"
        f" ({', '.join(due.standing.rules.key)}), found null in {problem}. If such rows belong to"
        " no key, write `unkeyed: ignore` into the spec's `state`: the next run goes on. If they"
        " are tombstones, that would leave their keys undeleted: name the record's key, such as"
        " `state: {key: [_key]}`; then ",
        rebuild,
        " makes the table by that. The data table goes on.",
    )
