"""The watch: all pipelines of the deployment, read beside those who look at the page."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from sluice.offsets.batches import BatchSequence
from sluice.operations.history import KnownBatch, find_batch
from sluice.operations.outlook_text import lines_of
from sluice.operations.quarantine.listing import list_quarantine
from sluice.operations.timeline import Landings, PipelineTimeline, read_lag_series, read_timeline
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.dry_run import dry_run
from sluice.scheduling.page.clusters import Clusters
from sluice.scheduling.page.lag_over_time import lag_points
from sluice.scheduling.page.lag_series import LagSeries, Points
from sluice.scheduling.page.polled import Polled, Seen
from sluice.scheduling.page.rows import Row
from sluice.scheduling.page.waiting_records import WaitingRecords, waiting_records

NEWEST = 50
# Specs and connections change rarely; what the tables and Kafka say changes with every batch.
_SPECS_S = 30.0
# The first request for a value waits this long, at most four times for one page.
_PATIENCE_S = 0.2
# How many of one kind are read at once, and kept for the next requests. Names come from addresses:
# many requests must not fill the memory, nor keep all threads or Kafka busy.
AT_ONCE = 8
# A batch of 10,000 partitions takes some MB; an outlook is some lines of text.
_KEPT, _KEPT_LINES = 20, 1000
# A quarantine table may be large, and changes with batches and by hand.
_QUARANTINE_S = 30.0

_T = TypeVar("_T")


@dataclass(frozen=True)
class AllRows:
    """The rows of all pipelines by name, and why the specs could not be read, if so.

    `refused` counts invalid specs. `known`: whether the specs were read at least once;
    `settled`: whether every pipeline was.
    """

    by_name: Mapping[str, Row]
    problem: str
    refused: int
    known: bool
    settled: bool


class Watch:
    """What the page knows. `read_clusters` returns the pipelines by connection."""

    def __init__(self, read_clusters: Callable[[], Clusters]) -> None:
        self._clusters = Polled(read_clusters, _SPECS_S)
        self._timelines = _Kept[PipelineTimeline](_KEPT)
        self._quarantines = _Kept[WaitingRecords](_KEPT, _QUARANTINE_S)
        self._series = LagSeries(self._lag_points)
        self._batches = _Kept[KnownBatch | None](_KEPT)
        self._outlooks = _Kept[list[str]](_KEPT_LINES)

    def rows(self) -> AllRows:
        """All pipelines, as far as they are known now."""
        clusters = self._clusters.look(_PATIENCE_S)
        here = clusters.value or Clusters()
        until = time.monotonic() + _PATIENCE_S
        found: dict[str, Row] = {}
        for each in here.by_connection.values():
            found |= each.rows(until - time.monotonic())
        known = clusters.value is not None or bool(clusters.problem)
        settled = known and not any(each.waiting for each in found.values())
        return AllRows(found, clusters.problem, here.refused, known, settled)

    def timeline(self, pipeline: str) -> Seen[PipelineTimeline]:
        """The newest batches, resets and losses of a pipeline. Kafka is not asked."""
        # The first look's reading is kept, and with it what was committed when.
        known: Landings = {}
        return self._timelines.look(
            pipeline, lambda: read_timeline(self._resources(pipeline), NEWEST, known)
        )

    def quarantine(self, pipeline: str) -> Seen[WaitingRecords]:
        """The records of a pipeline that wait, by reason. Kafka is not asked."""
        return self._quarantines.look(
            pipeline,
            lambda: waiting_records(pipeline, list_quarantine(self._resources(pipeline))),
        )

    def lag_series(self, rows: Iterable[Row]) -> tuple[Mapping[str, Points], bool]:
        """The lag over time of these, as far as it is known, and whether more is being read."""
        shown = list(rows)
        found = self._series.look(shown)
        return found, self._series.is_due(shown)

    def batch(self, pipeline: str, sequence: BatchSequence, number: int) -> Seen[KnownBatch | None]:
        """One batch. Kafka is not asked."""
        return self._batches.look(
            (sequence, number), lambda: find_batch(self._resources(pipeline), sequence, number)
        )

    def outlook(self, pipeline: str) -> Seen[list[str]]:
        """What the next run would do, in lines."""
        return self._outlooks.look(
            pipeline, lambda: list(lines_of(dry_run(self._resources(pipeline))))
        )

    def _lag_points(self, pipeline: str, newest: int) -> Points:
        return tuple(lag_points(read_lag_series(self._resources(pipeline), newest)))

    def _resources(self, pipeline: str) -> PipelineResources:
        return (self._clusters.look().value or Clusters()).resources(pipeline)


class _Kept(Generic[_T]):
    """Readings of one kind, by what they are of: those that were looked at last."""

    def __init__(self, most: int, every: float = 5.0) -> None:
        self._most, self._every = most, every
        self._kept: OrderedDict[object, Polled[_T]] = OrderedDict()
        self._keeping = threading.Lock()
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def look(self, key: object, read: Callable[[], _T]) -> Seen[_T]:
        """What is known of it now; it is read if that is old."""
        with self._keeping:
            latest = self._kept.setdefault(key, Polled(read, self._every, turns=self._turns))
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return latest.look(_PATIENCE_S)
