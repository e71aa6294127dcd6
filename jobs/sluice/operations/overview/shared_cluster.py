"""A shared cluster: what several pipelines want to know of it, asked once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sluice.broker.client_settings import RightMissing
from sluice.broker.port import Cluster
from sluice.clock import Clock
from sluice.errors import SluiceError
from sluice.offsets.lag import Lag, lags, unread_from
from sluice.offsets.notation import Positions
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.ranges import TopicPartition
from sluice.spec_file.pipeline_spec import PipelineSpec

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class _AllTopics:
    """The topics of all pipelines together."""

    specs: Sequence[PipelineSpec]

    @property
    def topics(self) -> list[str] | None:
        """The listed names; None as soon as one pipeline selects its topics by name."""
        if any(each.topics is None for each in self.specs):
            return None
        return sorted({topic for each in self.specs for topic in each.topics or ()})

    def selects(self, topic: str) -> bool:
        """Whether any of them reads a topic of this name."""
        return any(each.selects(topic) for each in self.specs)


def ask_for_all(
    names: Sequence[str], ask: Callable[[Sequence[str]], Mapping[str, _Answer]]
) -> Mapping[str, _Answer | SluiceError]:
    """What the cluster answers of each pipeline, asked at once; or why it does not.

    A right that is missing for one pipeline's topics hinders no other: they are asked in halves.
    """
    try:
        return ask(names) if names else {}
    except RightMissing as problem:
        if len(names) == 1:
            return {names[0]: problem}
        half = len(names) // 2
        return {**ask_for_all(names[:half], ask), **ask_for_all(names[half:], ask)}
    except SluiceError as problem:
        return dict.fromkeys(names, problem)


def read_states(kafka: Cluster, specs: Sequence[PipelineSpec]) -> Mapping[str, KafkaState]:
    """The state of each pipeline's topics, by pipeline. Raises as `Cluster.state`."""
    whole = kafka.state(_AllTopics(specs))
    by_topic: dict[str, dict[TopicPartition, PartitionLog]] = {}
    for at, log in whole.logs.items():
        by_topic.setdefault(at.topic, {})[at] = log
    return {
        each.pipeline: KafkaState(
            whole.cluster_id,
            {
                at: log
                for topic, logs in by_topic.items()
                if each.selects(topic)
                for at, log in logs.items()
            },
            whole.asked,
        )
        for each in specs
    }


def read_all_lags(
    kafka: Cluster,
    states: Mapping[str, KafkaState],
    positions: Mapping[str, Positions],
    clock: Clock,
) -> Mapping[str, tuple[Lag, ...]]:
    """The lag of every partition of each pipeline, by pipeline.

    Raises BrokerUnavailable, or SettingsError for a missing right.
    """
    behind = {name: unread_from(positions[name], state.logs) for name, state in states.items()}
    held = {at: log for state in states.values() for at, log in state.logs.items()}
    since = kafka.open_since(held)
    stamps = _timestamps(kafka, behind)
    retentions = kafka.retentions({at.topic for each in behind.values() for at in each})
    now = clock.now()
    return {
        name: tuple(lags(positions[name], state.logs, stamps[name], now, since, retentions))
        for name, state in states.items()
    }


def _timestamps(
    kafka: Cluster, behind: Mapping[str, Positions]
) -> Mapping[str, Mapping[TopicPartition, datetime]]:
    found: dict[str, dict[TopicPartition, datetime]] = {name: {} for name in behind}
    for asked in _rounds(behind):
        told = kafka.timestamps(dict(asked.keys()))
        for (at, _), names in asked.items():
            for name in names:
                if at in told:
                    found[name][at] = told[at]
    return found


Asked = dict[tuple[TopicPartition, int], list[str]]


def _rounds(behind: Mapping[str, Positions]) -> Iterable[Asked]:
    """Who asks for which offset; in one round each partition is asked for one offset only."""
    rounds: list[Asked] = []
    places: list[dict[TopicPartition, int]] = []
    for name, positions in behind.items():
        for at, start in positions.items():
            free = (n for n, each in enumerate(places) if each.get(at, start) == start)
            if (number := next(free, len(places))) == len(places):
                places.append({})
                rounds.append({})
            places[number][at] = start
            rounds[number].setdefault((at, start), []).append(name)
    return rounds
