"""The due span: which versions of the data table the state table has yet to follow."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.columns.columns import Column
from sluice.lake.port import StateAttempt
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.state_trust import StateStanding, look
from sluice.progress.topic_ranks import topic_ranks
from sluice.state_table.commits import StateCommit
from sluice.state_table.spans import Span, next_span, whole
from sluice.state_table.topic_ranks import TopicRanks
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.log_changes import (
    columns_at,
    has_replaced_columns,
    log_changes,
    missing_files,
    with_bounds,
)
from sluice.tables.retention import older_than, retention_of


@dataclass(frozen=True)
class DueSpan:
    """The next span of a state table, and the attempt that follows it."""

    standing: StateStanding
    attempt: StateAttempt

    @property
    def span(self) -> Span:
        """The versions."""
        return self.attempt.span

    @property
    def needs_spark(self) -> bool:
        """Whether rows or columns of the state table may change."""
        return self.span.kind != "nothing" or self.attempt.gives_columns


def due_span(resources: PipelineResources) -> DueSpan | None:
    """The next span; None where the state stands at the data table's version. Writes nothing.

    Raises StateRefused for a state table that is not to be trusted, TableRefused for a data table
    that is not, SettingsError for one whose retention is too short.
    """
    lane, standing = look(resources)
    if lane.data.version is None:
        return None
    standing.require()
    if standing.behind == 0:
        return None
    span = _span(resources, standing, topic_ranks(lane))
    try:
        columns = columns_at(lane.data.uri, span.upto)
    except FileNotFoundError:
        return due_anew(lane, standing)
    wanted = standing.rules.columns(columns)
    there = {each.name: each.type for each in standing.table.columns}
    if (
        standing.is_new
        or any(there.get(e.name, e.type) != e.type for e in wanted)
        or {*there} - {each.name for each in wanted}
    ):
        return due_anew(lane, standing)
    return _due(lane, standing, span, columns)


def due_anew(lane: LaneState, standing: StateStanding) -> DueSpan:
    """The span that makes the state table from the whole data table, whatever it is now."""
    span = whole(-1 if standing.stands_at is None else standing.stands_at, lane.data.version or 0)
    return _due(lane, standing, span, standing.data.columns)


def due_instead(resources: PipelineResources, stopped: DueSpan) -> DueSpan | None:
    """The whole data table as it is now, where rows have gone since a span that stops the state.

    What stops it may be one of them. None where none has gone. Raises as `due_span`.
    """
    lane, standing = look(resources)
    standing.require()
    upto, now = stopped.span.upto, lane.data.version or 0
    try:
        gone = any(each.removed for each in log_changes(lane.data.uri, upto, now))
    except FileNotFoundError:
        gone = True
    return due_anew(lane, standing) if gone else None


def _due(
    lane: LaneState, standing: StateStanding, span: Span, columns: tuple[Column, ...]
) -> DueSpan:
    return DueSpan(standing, attempt_at(lane, standing, span, columns))


def attempt_at(
    lane: LaneState, standing: StateStanding, span: Span, columns: tuple[Column, ...]
) -> StateAttempt:
    """The attempt to follow a span, at whose end the log has these columns."""
    rules, there = standing.rules, {each.name for each in standing.table.columns}
    newest = None if standing.found is None else standing.found.newest
    wanted = rules.columns(columns)
    commit = StateCommit(
        data_table_id=str(lane.data.table_id),
        after=span.after,
        data_version=span.upto,
        digest=rules.digest(wanted),
        kind=span.kind,
        state_version=standing.table.version,
        log_commit=lane.data.log.digest(span.upto, ""),
        truncation=None if newest is None else newest.truncation,
    )
    gives = bool({each.name for each in wanted} - there)
    return StateAttempt(span, rules, columns, topic_ranks(lane), commit, gives)


def _span(resources: PipelineResources, standing: StateStanding, ranks: TopicRanks) -> Span:
    data, after = standing.data, standing.stands_at
    assert data.version is not None, "the caller has looked"
    if after is None:
        return whole(-1, data.version)
    try:
        changes = log_changes(data.uri, after, data.version)
        alters = any(each.alters for each in changes)
        if alters and has_replaced_columns(data.uri, after, data.version):
            return whole(after, data.version)
    except FileNotFoundError:
        return whole(after, data.version)
    span = next_span(after, changes, resources.spec.max_records_per_batch)
    if span.kind == "nothing":
        return span
    if span.kind == "appended" and standing.table.collected.is_reached_by(span.added, ranks):
        # The state may lack the newer row of its key: the log has it.
        return whole(after, data.version)
    if any(missing_files(data.uri, (*span.added, *span.removed))):
        return whole(after, data.version)
    if span.kind == "rewritten" and _has_expired(resources, data, span.upto):
        return whole(after, data.version)
    try:
        removed = with_bounds(data.uri, after, span.removed)
    except FileNotFoundError:
        return whole(after, data.version)
    return replace(span, removed=removed)


def _has_expired(resources: PipelineResources, data: DeltaSnapshot, version: int) -> bool:
    """Whether VACUUM may have deleted files that the data table had at a version.

    All of them are read for a span that ends there.
    """
    following = range(version + 1, min(version + 1, data.version or 0) + 1)
    kept_since = resources.clock.now() - retention_of(data.uri)
    return bool(older_than(data.uri, following, kept_since))
