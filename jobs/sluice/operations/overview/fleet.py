"""The fleet: the tables of all pipelines, and one conversation with each of their clusters.

Nothing is written, and no record is compared: what only the records can tell, such as a log that
was replaced under the same topic id, `plan` finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sluice.broker.client_settings import ClientSettings, RightMissing
from sluice.broker.cluster import KafkaCluster
from sluice.errors import SettingsError, SluiceError, SpecError
from sluice.offsets.lag import Lag
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicPartition
from sluice.operations.history import newest_batches
from sluice.operations.overview.overview import Overview, Progress
from sluice.operations.overview.shared_cluster import read_all_lags, read_states
from sluice.progress.interrupted import require_finishable
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lost_offsets import still_lost
from sluice.progress.overdue import find_overdue
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.progress.undecodable import last_share, require_decodable
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.log_changes import readable_ranges
from sluice.protocol.plan.new_pipeline import require_new
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.protocol.plan.start import next_positions, start_now
from sluice.protocol.plan.table_fit import require_fitting_table
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

# Reading a table is mostly waiting, and delta-rs lets other threads run.
_AT_ONCE = 8


class Fleet:
    """All pipelines of a deployment. Those of one connection share its client.

    What cannot be read is told of the pipelines that it concerns, and hinders no other.
    """

    def __init__(
        self,
        specs: Iterable[PipelineSpec],
        tables: Warehouse,
        extra_of: Callable[[str], Mapping[str, Any]],
        refused: Mapping[Path, SpecError] = MappingProxyType({}),
    ) -> None:
        """`extra_of` returns a Kafka connection's `extra`, or raises SettingsError.

        `refused` are the files that are no valid spec: of their pipelines nothing can be told.
        """
        self.refused = refused
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
        now = datetime.now(UTC)
        found = [Overview(spec, now, None, None, why, why) for spec, why in self._unreachable]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            read = [list(pool.map(_read_tables, members)) for members in self._members.values()]
        # A cluster that does not answer keeps no other waiting.
        with ThreadPoolExecutor(max(1, len(read))) as clusters:
            found += [each for told in clusters.map(_with_kafka, read) for each in told]
        return sorted(found, key=lambda each: each.spec.pipeline)


@dataclass(frozen=True)
class _Tables:
    """What a pipeline's tables say; where they cannot be read, why."""

    resources: PipelineResources
    lane: LaneState | None = None
    progress: Progress | None = None
    refused: str = ""
    problem: str = ""

    @property
    def spec(self) -> PipelineSpec:
        return self.resources.spec

    def overview(self, lags: tuple[Lag, ...] | None, kafka: str, refused: str) -> Overview:
        """With what the cluster told: lags, or why none, and what would refuse the next run."""
        why, refused = self.problem or kafka, self.refused or refused
        return Overview(self.spec, self.resources.clock.now(), self.progress, lags, why, refused)


def _read_tables(resources: PipelineResources) -> _Tables:
    try:
        lane = read_unchecked(resources)
        refused = _problem_of(lambda: _check_tables(resources, lane))
        return _Tables(resources, lane, _progress(resources, lane), refused)
    except SluiceError as problem:
        # What may be tried again is the store's silence, and refuses nothing.
        refused = "" if problem.retryable else str(problem)
        return _Tables(resources, refused=refused, problem=str(problem))


def _check_tables(resources: PipelineResources, lane: LaneState) -> None:
    check_data_table(lane)
    require_finishable(lane)
    require_fitting_table(resources.kept_spec, lane.data)
    require_decodable(resources, lane)


def _progress(resources: PipelineResources, lane: LaneState) -> Progress:
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
    )


def _waiting_since(lane: LaneState) -> datetime | None:
    """Since when batches wait and none has been committed: those of one plan land in turn."""
    first, last = lane.unfinished[0].number, lane.unfinished[-1].number
    planned = lane.snapshot.planned_by(lane.sequence, first, last)
    landed = lane.data.committed_at(lane.last) if lane.last else None
    known = [min((each.at for each in planned.values()), default=None), landed]
    return max((each for each in known if each), default=None)


def _with_kafka(members: Sequence[_Tables]) -> list[Overview]:
    """The pipelines of one connection, with what its cluster tells of them.

    A right that is missing for one pipeline's topics hinders no other: they are asked in halves.
    """
    try:
        return list(_told(members))
    except RightMissing as problem:
        if len(members) == 1:
            return [members[0].overview(None, str(problem), "")]
        half = len(members) // 2
        return [*_with_kafka(members[:half]), *_with_kafka(members[half:])]
    except SluiceError as problem:
        return [each.overview(None, str(problem), "") for each in members]


def _told(members: Sequence[_Tables]) -> Iterator[Overview]:
    """The same, asked at once. Raises what the cluster answers with."""
    kafka, clock = members[0].resources.kafka, members[0].resources.clock
    lanes = {each.spec.pipeline: each for each in members if each.lane is not None}
    states = read_states(kafka, [each.spec for each in lanes.values()])
    positions: dict[str, Mapping[TopicPartition, int]] = {}
    silent, refused = dict[str, str](), dict[str, str]()
    for name, each in lanes.items():
        assert each.lane is not None
        try:
            begin = next_positions(each.resources, each.lane, states[name])
            refused[name] = _refused_by_log(each, states[name], begin)
        except SluiceError as problem:
            # What `start` asks may be another system, and its silence is this pipeline's alone.
            silent[name] = str(problem)
        else:
            positions[name] = begin if refused[name] else _still_read(begin, states[name])
    known = {name: states[name] for name in positions}
    lags = read_all_lags(kafka, known, positions, clock)
    for each in members:
        name = each.spec.pipeline
        yield each.overview(lags.get(name), silent.get(name, ""), refused.get(name, ""))


def _still_read(
    starts: Mapping[TopicPartition, int], state: KafkaState
) -> Mapping[TopicPartition, int]:
    """Without what no run reads any more, such as a topic that the spec no longer names."""
    return {at: start for at, start in starts.items() if at in state.logs}


def _refused_by_log(
    tables: _Tables, state: KafkaState, positions: Mapping[TopicPartition, int]
) -> str:
    """Why the next run would be refused, as far as the bounds of the logs tell."""
    resources, lane = tables.resources, tables.lane
    assert lane is not None

    def check() -> None:
        require_due_decided(resources, lane, state, record=False)
        if lane.unfinished:
            for batch in lane.unfinished:
                readable_ranges(batch, state, resources.spec.data_loss)
        elif lane.history:
            plan_next(resources.spec, lane.history, state)
        else:
            require_new(resources, state)
            # Where `start` leads nowhere, it says why.
            starts = positions or start_now(resources, state)
            plan_first(resources.spec, lane.history, state, starts)

    return _problem_of(check)


def _problem_of(check: Callable[[], object]) -> str:
    try:
        check()
    except SluiceError as problem:
        # What may be tried again refuses nothing.
        return "" if problem.retryable else str(problem)
    return ""
