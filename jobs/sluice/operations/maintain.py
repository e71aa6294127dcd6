"""Maintenance: fewer files and no dead rows; a row that counts is never touched.

Safe beside running pipelines. It removes only what no attempt at a batch can need: rows and files
of planned batches stay, and due receipts, which need the Delta log, are written first. The state
table is last: what stops there has held nothing else back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sluice.errors import BrokerUnavailable, CommitConflict, CommitUnknown, StateRefused
from sluice.failpoints import reach
from sluice.lake.port import Compacted, Upkeep
from sluice.offsets.origin import Origin
from sluice.offsets.quarantined import batch_offsets
from sluice.progress.lane_state import read_unchecked
from sluice.progress.lanes import read_lane
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.removable_rows import dead_rows
from sluice.progress.resources import PipelineResources
from sluice.progress.state_trust import look, require_rules
from sluice.protocol.settle.lane_by_lane import settle_lanes
from sluice.protocol.settle.write_receipts import write_receipts
from sluice.state_table.collected import collectable
from sluice.state_table.commits import StateCollection
from sluice.tables.retention import retention_of

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MaintenanceResult:
    """What was done. A step that met a commit conflict is postponed to the next maintenance."""

    settled: int = 0
    removed: int = 0
    collected: int = 0
    compacted: Mapping[str, Compacted] = field(default_factory=dict)
    postponed: tuple[str, ...] = ()

    @property
    def summary(self) -> list[str]:
        """A summary, one line per action."""
        lines = [f"{self.settled} receipts written"] if self.settled else []
        lines.append(f"{self.removed} rows that do not count removed from the quarantine")
        if self.collected:
            lines.append(f"{self.collected} deleted keys collected from the state table")
        lines += [f"{uri}: {each}" for uri, each in self.compacted.items()]
        return [*lines, *(f"{what}: postponed to the next maintenance" for what in self.postponed)]


def is_new(resources: PipelineResources) -> bool:
    """Whether nothing was planned yet, so that there is nothing to maintain.

    Raises what a run raises where only the offsets table is gone.
    """
    if resources.offsets.exists():
        return False
    read_lane(resources)
    return True


def maintain(resources: PipelineResources, upkeep: Upkeep, origin: Origin) -> MaintenanceResult:
    """Settle, clear the quarantine, compact and vacuum all tables of the pipeline.

    Raises what `settle` raises, and SettingsError for a table whose retention is too short; then
    nothing is removed.
    """
    read_lane(resources)
    settled = settle_lanes(lambda each: write_receipts(resources, origin, each)).require_settled()
    tables, state = _tables(resources), _state_table(resources)
    for uri in (*tables, *state):
        retention_of(uri)
    done = MaintenanceResult(len(settled))
    try:
        done = replace(done, removed=_clear_quarantine(resources, upkeep, origin.at))
    except CommitConflict as conflict:
        done = _postponed(done, "quarantine rows", conflict)
    reach("quarantine cleared")
    for uri in tables:
        done = _vacuumed(_rewritten(done, uri, [upkeep.compact]), uri, upkeep)
    for uri in state:
        done = _collected(done, resources, upkeep)
        done = _rewritten(done, uri, [upkeep.compact, upkeep.purge])
        done = _vacuumed(done, uri, upkeep)
    resources.offsets.maintain()
    return done


def _collected(
    done: MaintenanceResult, resources: PipelineResources, upkeep: Upkeep
) -> MaintenanceResult:
    """Without the deleted keys whose older records can no longer be read again.

    Not with an order of the spec's own: any record to come may be older by that. Nor where a later
    row may take a value from them.
    """
    rules = require_rules(resources)
    if rules.is_ordered or rules.unavailable is not None:
        return done
    lanes = [read_unchecked(resources), read_unchecked(resources, "backfill")]
    try:
        logs = resources.kafka.state(resources.spec).logs
    except BrokerUnavailable as problem:
        log.info("%s: no deleted key was collected: %s", resources.spec.pipeline, problem)
        return done
    ends = collectable(logs, [each for lane in lanes for each in lane.unfinished])
    table = resources.state.snapshot()
    told = StateCollection(str(lanes[0].data.table_id), table.version or 0)
    if not ends:
        return done
    try:
        with upkeep.state() as state:
            rows = state.collect(table.collected.further(ends), told)
    except CommitConflict as conflict:
        return _postponed(done, "deleted keys", conflict)
    return replace(done, collected=rows)


def _rewritten(
    done: MaintenanceResult, uri: str, steps: Iterable[Callable[[str], Compacted]]
) -> MaintenanceResult:
    """With a table's files written anew by each of the steps."""
    try:
        whole = sum((step(uri) for step in steps), Compacted(0, 0))
    except CommitConflict as conflict:
        return _postponed(done, uri, conflict)
    return replace(done, compacted={**done.compacted, uri: whole})


def _vacuumed(done: MaintenanceResult, uri: str, upkeep: Upkeep) -> MaintenanceResult:
    """Without the files that a table has not referenced for its retention."""
    try:
        upkeep.vacuum(uri)
    except CommitConflict as conflict:
        return _postponed(done, uri, conflict)
    return done


def _postponed(done: MaintenanceResult, what: str, conflict: CommitConflict) -> MaintenanceResult:
    log.info("%s: postponed to the next maintenance: %s", what, conflict)
    return replace(done, postponed=tuple(dict.fromkeys((*done.postponed, what))))


def _tables(resources: PipelineResources) -> list[str]:
    spec, tables = resources.spec, resources.tables
    there = ((resources.data, tables.data), (resources.quarantine, tables.quarantine))
    return [where(spec.table) for log_of, where in there if log_of.exists()]


def _state_table(resources: PipelineResources) -> list[str]:
    """The state table; none where it is not the one that Sluice left: that is made anew."""
    if resources.spec.state is None:
        return []
    try:
        _, standing = look(resources)
        standing.require()
    except (StateRefused, CommitUnknown) as problem:
        log.warning("%s: not maintained: %s", resources.spec.pipeline, problem)
        return []
    return [] if standing.found is None else [standing.table.uri]


def _clear_quarantine(resources: PipelineResources, upkeep: Upkeep, now: datetime) -> int:
    dead = dead_rows(resources, read_quarantined(resources).rows)
    rows = [each.row for each in dead if each.is_removable(now)]
    if rows:
        upkeep.remove_quarantined(batch_offsets(rows))
        log.info("%s: %d rows removed from the quarantine", resources.spec.pipeline, len(rows))
    return len(rows)
