"""The fleet: the tables of all pipelines, and one conversation with each of their clusters.

Nothing is written, and no record is compared: what only the records can tell, such as a log that
was replaced under the same topic id, `plan` finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.errors import SettingsError, SluiceError, SpecError
from sluice.offsets.lag import Lag
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.partition_log import KafkaState
from sluice.operations.history import newest_batches
from sluice.operations.overview.overview import Overview, Progress
from sluice.operations.overview.shared_cluster import ask_for_all, read_all_lags, read_states
from sluice.operations.state_status import read_state_status
from sluice.progress.complete_until import complete_although, complete_until
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lost_offsets import still_lost
from sluice.progress.moved_to_another import reads_again
from sluice.progress.overdue import find_overdue
from sluice.progress.quarantine_stock import KnownStocks, unless_altered
from sluice.progress.resources import PipelineResources
from sluice.progress.undecodable import last_share
from sluice.protocol.plan.known_logs import KnownLogs, no_records
from sluice.protocol.plan.next_run import next_refusal
from sluice.protocol.plan.start import next_positions
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

# Reading a table is mostly waiting, and delta-rs lets other threads run.
_AT_ONCE = 8


class Fleet:
    """All pipelines of a deployment. Those of one connection share its client.

    A failed reading is reported for the pipelines that it concerns, and affects no other.
    """

    def __init__(
        self,
        specs: Iterable[PipelineSpec],
        tables: Warehouse,
        extra_of: Callable[[str], Mapping[str, Any]],
        refused: Mapping[Path, SpecError] = MappingProxyType({}),
    ) -> None:
        """`extra_of` returns a Kafka connection's `extra`, or raises SettingsError.

        `refused` are the invalid spec files: nothing is known about their pipelines.
        """
        self.refused = refused
        self._stocks = KnownStocks()
        self._members: dict[str, list[PipelineResources]] = {}
        self._unreachable: list[tuple[PipelineSpec, str]] = []
        by_connection: dict[str, list[PipelineSpec]] = {}
        for spec in specs:
            by_connection.setdefault(spec.kafka, []).append(spec)
        for connection, found in by_connection.items():
            try:
                client = ClientSettings.from_extra(connection, extra_of(connection))
                kafka = KafkaCluster(client)
            except SettingsError as problem:
                self._unreachable += [(spec, str(problem)) for spec in found]
                continue
            self._members[connection] = [
                PipelineResources.of(spec, tables, client, kafka) for spec in found
            ]

    def of(self, pipeline: str) -> PipelineResources:
        """What a pipeline's own questions are asked with.

        Raises SettingsError where its connection cannot be used.
        """
        for members in self._members.values():
            for each in members:
                if each.spec.pipeline == pipeline:
                    return each
        raise SettingsError(
            next(why for spec, why in self._unreachable if spec.pipeline == pipeline)
        )

    def read(self) -> list[Overview]:
        """Each pipeline as it is now, by name."""
        now, connections = datetime.now(UTC), list(self._members.values())
        found = [Overview(spec, now, None, None, why, why) for spec, why in self._unreachable]
        # A cluster that does not answer keeps no other waiting.
        clusters = ThreadPoolExecutor(max(1, len(connections)))
        with ThreadPoolExecutor(_AT_ONCE) as pool, clusters:
            for read in clusters.map(lambda each: _read(each, pool, self._stocks), connections):
                found += read
        return sorted(found, key=lambda each: each.spec.pipeline)


@dataclass(frozen=True)
class _Tables:
    """What a pipeline's tables say."""

    resources: PipelineResources
    lane: LaneState
    progress: Progress

    @property
    def spec(self) -> PipelineSpec:
        return self.resources.spec


@dataclass(frozen=True)
class _Judged:
    """The same, what refuses the next run, the logs as the cluster has them, or why not, and until
    when the table is complete.
    """

    tables: _Tables
    refused: str
    logs: KnownLogs | SluiceError
    complete_until: datetime | None

    def overview(self, lags: tuple[Lag, ...] | SluiceError) -> Overview:
        """With the lags, or why the cluster did not tell them."""
        spec, now = self.tables.spec, self.tables.resources.clock.now()
        known, why = (None, str(lags)) if isinstance(lags, SluiceError) else (lags, "")
        progress, until = self.tables.progress, self.complete_until
        return Overview(spec, now, progress, known, why, self.refused, until)


def _read(
    members: Sequence[PipelineResources], pool: ThreadPoolExecutor, stocks: KnownStocks
) -> list[Overview]:
    """The pipelines of one connection; their cluster is asked twice, for all of them at once.

    After their tables: with a log that is older than its cursor, it would look truncated.
    """
    kafka, clock = members[0].kafka, members[0].clock
    read = list(pool.map(partial(_read_tables, stocks), members))
    tables = {each.spec.pipeline: each for each in read if isinstance(each, _Tables)}
    told = ask_for_all(
        list(tables), lambda some: read_states(kafka, [tables[name].spec for name in some])
    )
    found = pool.map(_judge, tables.values(), [told[name] for name in tables])
    judged = dict(zip(tables, found, strict=True))
    logs = {name: each.logs for name, each in judged.items() if isinstance(each.logs, KnownLogs)}
    silent = {n: each.logs for n, each in judged.items() if isinstance(each.logs, SluiceError)}
    lags = ask_for_all(
        list(logs),
        lambda some: read_all_lags(
            kafka,
            {name: logs[name].state for name in some},
            {name: logs[name].starts for name in some},
            clock,
        ),
    )
    return [
        *(each for each in read if isinstance(each, Overview)),
        *(judged[name].overview(each) for name, each in {**silent, **lags}.items()),
    ]


def _read_tables(stocks: KnownStocks, resources: PipelineResources) -> _Tables | Overview:
    """What the tables say; where they cannot be read, the overview says why."""
    try:
        lane = read_unchecked(resources)
        return _Tables(resources, lane, _progress(resources, lane, stocks))
    except SluiceError as problem:
        # What may be tried again is the store's silence, and refuses nothing.
        refused = "" if problem.retryable else str(problem)
        now = resources.clock.now()
        return Overview(resources.spec, now, None, None, str(problem), refused)


def _progress(resources: PipelineResources, lane: LaneState, stocks: KnownStocks) -> Progress:
    return Progress(
        generation=lane.generation,
        positions=sum(lane.positions.values()),
        last=next(newest_batches(lane, 1), None),
        unfinished=lane.unfinished,
        waiting_since=_waiting_since(lane) if lane.unfinished else None,
        unsettled=len(lane.due),
        overdue=find_overdue(lane),
        lost=offsets_lost(still_lost(resources, lane)),
        quarantined=last_share(resources, lane),
        waiting=stocks.read(resources, lane),
        state=read_state_status(resources, lane),
        rereads=reads_again(lane),
    )


def _waiting_since(lane: LaneState) -> datetime | None:
    """Since when batches wait and none has been committed: those of one plan land in turn."""
    first, last = lane.unfinished[0].number, lane.unfinished[-1].number
    planned = lane.snapshot.planned_by(lane.sequence, first, last)
    landed = lane.data.log.committed_at(lane.last) if lane.last else None
    known = [min((each.at for each in planned.values()), default=None), landed]
    return max((each for each in known if each), default=None)


def _judge(tables: _Tables, told: KafkaState | SluiceError) -> _Judged:
    logs = _bounds(tables, told)
    known = logs if isinstance(logs, KnownLogs) else None
    refused = _refused(tables, known)
    waiting = unless_altered(tables.progress.waiting, tables.lane, refused)
    tables = replace(tables, progress=replace(tables.progress, waiting=waiting))
    shown = logs if known is None else _still_read(known, tables.spec if refused else None)
    return _Judged(tables, refused or "", shown, _complete_until(tables, known, refused))


def _complete_until(
    tables: _Tables, logs: KnownLogs | None, refused: str | None
) -> datetime | None:
    """Where it is unknown whether the next run is refused, Kafka proves nothing."""
    if refused:
        return complete_although(tables.resources, tables.lane)
    state = logs.state if logs and refused is not None else None
    return complete_until(tables.resources, tables.lane, state)


def _bounds(tables: _Tables, told: KafkaState | SluiceError) -> KnownLogs | SluiceError:
    if isinstance(told, SluiceError):
        return told
    try:
        return KnownLogs(told, no_records, next_positions(tables.resources, tables.lane, told))
    except SluiceError as problem:
        # What `start` asks may be another system, and its silence is this pipeline's alone.
        return problem


def _refused(tables: _Tables, logs: KnownLogs | None) -> str | None:
    """Why the next run would be refused, "" where it would not; None where that is unknown."""
    try:
        return str(next_refusal(tables.resources, tables.lane, logs) or "")
    except SluiceError:
        # What may be tried again refuses nothing.
        return None


def _still_read(logs: KnownLogs, refused: PipelineSpec | None) -> KnownLogs:
    """Without what no run reads any more, such as a topic that the spec no longer names.

    What a spec still names and a refused run misses stays: it is not read.
    """
    there = {
        at: start
        for at, start in logs.starts.items()
        if at in logs.state.logs or (refused and refused.selects(at.topic))
    }
    return replace(logs, starts=there)
