"""The watch: all pipelines of the deployment, read beside those who look at the page.

Each Kafka connection is read on its own: a cluster that does not answer keeps no other waiting.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sluice.errors import SettingsError
from sluice.offsets.batches import BatchSequence
from sluice.operations.history import (
    KnownBatch,
    PipelineHistory,
    find_batch,
    read_history,
)
from sluice.operations.overview.fleet import Fleet
from sluice.operations.overview.overview import Overview
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.dry_run import dry_run
from sluice.protocol.plan.outlook_text import lines_of
from sluice.scheduling.deployment import connection, reached_settings
from sluice.scheduling.page.latest import Latest, Seen
from sluice.scheduling.page.rows import Row, overdue, row_of, unanswered, unread
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.spec_files import read_specs
from sluice.tables.warehouse import Warehouse

NEWEST = 50
# Specs and connections change rarely; what the tables and Kafka say changes with every batch.
_SPECS_S = 30.0
# The first look at anything waits so long, twice at most for one page.
_PATIENCE_S = 0.3
# How many batches and outlooks are kept for those who look at the same.
_KEPT = 200


@dataclass(frozen=True)
class Cluster:
    """The pipelines of one connection: the fleet that reads them, and its latest reading."""

    specs: tuple[PipelineSpec, ...]
    extra: object
    fleet: Fleet
    latest: Latest[Mapping[str, Row]]

    def rows(self, patience: float) -> Mapping[str, Row]:
        """Each pipeline's row, by name; with why it is not newer, if it should be."""
        seen = self.latest.look(patience)
        waiting = self._waiting(seen)
        if seen.value is None:
            first = not seen.problem
            return {each.pipeline: unread(each, waiting, first) for each in self.specs}
        assert seen.at is not None
        why = waiting if seen.problem else overdue(seen.at, seen.asked, datetime.now(UTC))
        if not why:
            return seen.value
        return {name: unanswered(row, why) for name, row in seen.value.items()}

    def _waiting(self, seen: Seen[Mapping[str, Row]]) -> str:
        if seen.problem:
            return f"It could not be read again: {seen.problem}"
        asked = f", asked at {seen.asked:%H:%M:%S} UTC" if seen.asked else ""
        return f"Nothing is known yet: it is being read{asked}."


@dataclass(frozen=True)
class Rows:
    """All rows by name, and why the specs could not be read, if so.

    `known`: whether the specs were read at least once; `settled`: whether every pipeline was.
    """

    by_name: Mapping[str, Row]
    problem: str
    known: bool
    settled: bool


class Watch:
    """What the page knows. `open_clusters` returns the pipelines by connection."""

    def __init__(self, open_clusters: Callable[[], Mapping[str, Cluster]]) -> None:
        self._clusters = Latest(open_clusters, _SPECS_S)
        self._kept: OrderedDict[tuple[object, ...], Latest[Any]] = OrderedDict()
        self._keeping = threading.Lock()

    def rows(self) -> Rows:
        """All pipelines, as far as they are known now."""
        clusters = self._clusters.look(_PATIENCE_S)
        until = time.monotonic() + _PATIENCE_S
        found: dict[str, Row] = {}
        for each in (clusters.value or {}).values():
            found |= each.rows(until - time.monotonic())
        known = clusters.value is not None or bool(clusters.problem)
        settled = known and not any(each.waiting for each in found.values())
        return Rows(found, clusters.problem, known, settled)

    def history(self, row: Row) -> Seen[PipelineHistory]:
        """The newest batches, resets and losses of a pipeline. Kafka is not asked."""
        name, kafka = row.name, row.spec.kafka
        return self._look(
            ("history", name), lambda: read_history(self._resources(kafka, name), NEWEST)
        )

    def batch(self, row: Row, sequence: BatchSequence, number: int) -> Seen[KnownBatch | None]:
        """One batch. Kafka is not asked."""
        name, kafka = row.name, row.spec.kafka
        return self._look(
            ("batch", name, sequence, number),
            lambda: find_batch(self._resources(kafka, name), sequence, number),
        )

    def outlook(self, row: Row) -> Seen[list[str]]:
        """What the next run would do, in lines."""
        name, kafka = row.name, row.spec.kafka
        return self._look(
            ("outlook", name), lambda: list(lines_of(dry_run(self._resources(kafka, name))))
        )

    def _look(self, key: tuple[object, ...], read: Callable[[], Any]) -> Seen[Any]:
        with self._keeping:
            latest = self._kept.setdefault(key, Latest(read))
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return latest.look(_PATIENCE_S)

    def _resources(self, kafka: str, pipeline: str) -> PipelineResources:
        clusters = self._clusters.look().value or {}
        return clusters[kafka].fleet.of(pipeline)


def deployed() -> Watch:
    """The pipelines of this deployment, by its settings and Airflow's connections."""
    known: dict[str, Cluster] = {}

    def read() -> Mapping[str, Cluster]:
        settings = reached_settings()
        tables = Warehouse(settings.warehouse)
        grouped: dict[str, list[PipelineSpec]] = {}
        for spec in read_specs(settings.pipelines).accepted.values():
            grouped.setdefault(spec.kafka, []).append(spec)
        now = {
            name: _cluster(tuple(specs), tables, known.get(name)) for name, specs in grouped.items()
        }
        known.clear()
        known.update(now)
        return now

    return Watch(read)


def _cluster(specs: tuple[PipelineSpec, ...], tables: Warehouse, before: Cluster | None) -> Cluster:
    """The cluster of a connection: the one before, unless specs or connection have changed."""
    extra = _extra_of(specs[0].kafka)
    if before and (before.specs, before.extra) == (specs, extra):
        return before
    return cluster_of(specs, tables, extra)


def cluster_of(
    specs: tuple[PipelineSpec, ...],
    tables: Warehouse,
    extra: Mapping[str, Any] | str,
) -> Cluster:
    """The pipelines of one connection, by its `extra`, or by why there is none."""

    def given(_: str) -> Mapping[str, Any]:
        if isinstance(extra, str):
            raise SettingsError(extra)
        return extra

    fleet = Fleet(specs, tables, given)
    return Cluster(specs, extra, fleet, Latest(_rows_of(fleet.read)))


def _rows_of(read: Callable[[], list[Overview]]) -> Callable[[], Mapping[str, Row]]:
    """Read rows; each remembers what Kafka told last."""
    before: dict[str, Row] = {}

    def read_rows() -> Mapping[str, Row]:
        found = {
            each.spec.pipeline: row_of(each, before.get(each.spec.pipeline)) for each in read()
        }
        before.update(found)
        return found

    return read_rows


def _extra_of(name: str) -> Mapping[str, Any] | str:
    try:
        extra: Mapping[str, Any] = connection(name).extra_dejson
    except SettingsError as problem:
        return str(problem)
    return extra
