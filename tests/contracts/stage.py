"""The stage: one pipeline whose lake is asked directly, with batches that no plan has made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

from sluice.errors import CommitConflict
from sluice.lake.port import BatchAttempt, Engine, Lake, QuarantineResult, Undecodable, Upkeep
from sluice.offsets.batches import Batch, BatchSequence, Mode, PlannedRange
from sluice.offsets.quarantine_tickets import Ticket
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.pipeline import Pipeline
from sluice.progress.resources import PipelineResources

from tests.contracts.observed import Told, observed
from tests.worlds.pipelines import Installed
from tests.worlds.written_lake.broker_records import broker_records
from tests.worlds.written_lake.engine import WrittenEngine

TOPIC_ID = "h5UyGY8BS2Ch8PmLNWnxPQ"
OpenEngine = Callable[[PipelineResources], Engine]
Beside = TypeVar("Beside", bound="Stage")


@dataclass
class Stage:
    """A pipeline with an engine; `said` is what its lake answered."""

    trips: Installed
    open_engine: OpenEngine
    batches: dict[str, Batch] = field(default_factory=dict)
    said: list[object] = field(default_factory=list)

    @property
    def topic(self) -> str:
        return self.trips.topics[0]

    @property
    def pipeline(self) -> Pipeline:
        found = self.trips.open()
        return replace(found, engine=self.open_engine(found.resources))

    @contextmanager
    def lake(self) -> Iterator[Lake]:
        with self.pipeline.open_lake() as lake:
            yield lake

    @contextmanager
    def upkeep(self) -> Iterator[Upkeep]:
        pipeline = self.pipeline
        with pipeline.engine.upkeep(pipeline.resources) as upkeep:
            yield upkeep

    def attempt(
        self,
        number: int,
        *ranges: tuple[int, int, int],
        mode: Mode = "append",
        attempt: str = "first",
        lane: str = "forward",
        ticket: int = 0,
    ) -> BatchAttempt:
        """An attempt at a batch of ranges: partition, start, end."""
        found = [OffsetRange(TopicPartition(self.topic, n), start, end) for n, start, end in ranges]
        whole = tuple(PlannedRange(each, TOPIC_ID, 0, each.end, 0) for each in found)
        sequence = BatchSequence("trips", lane, 1)  # type: ignore[arg-type]
        batch = Batch(sequence, number, mode, "cluster", whole)
        self.batches[str(batch)] = batch
        words = {each.partition: f"w{each.end}" for each in found}
        spec = self.trips.open().spec.edition
        moment = datetime(2026, 1, 1, 12, 30, ticket, 123456, UTC)
        taken = Ticket(sequence.quarantine_app_id, 2**20 * number + 2 * ticket, moment)
        return BatchAttempt(batch, tuple(found), attempt, words, False, spec, taken)

    def land(self, attempt: BatchAttempt) -> None:
        with self.lake() as lake:
            lake.prepare()
            try:
                lake.land(attempt)
            except Undecodable as stopped:
                self.said.append(str(stopped))

    def set_aside(self, attempt: BatchAttempt) -> QuarantineResult | None:
        with self.lake() as lake:
            lake.prepare_quarantine()
            try:
                found = lake.quarantine(attempt)
            except CommitConflict as late:
                self.said.append(str(late))
                return None
        self.said.append(found)
        return found

    def land_decodable(self, attempt: BatchAttempt, undecodable: int = 0) -> None:
        with self.lake() as lake:
            lake.prepare()
            lake.land_decodable(replace(attempt, undecodable=undecodable))

    def observed(self) -> Told:
        quarantine = self.trips.warehouse / "trips__quarantine"
        data = observed(self.trips.data, self.batches.values())
        return {"said": self.said, "data": data, "quarantine": observed(quarantine)}


def on_spark(trips: Installed) -> Stage:
    """With Spark."""
    return Stage(trips, replace(trips, written=False).engine)


def written(trips: Installed) -> Stage:
    """Without."""
    return Stage(trips, lambda resources: WrittenEngine(broker_records(resources.client)))


@contextmanager
def coming_between(stage: Beside, act: Callable[[], None], table: Path) -> Iterator[Beside]:
    """The stage, beside whom somebody acts once the next write has put its first file there."""
    known, ended = set(_files(table)), Event()

    def watch() -> None:
        while not ended.is_set():
            if set(_files(table)) - known:
                act()
                return
            time.sleep(0.001)

    def at(step: str) -> None:
        if step == "lake: files written":
            act()

    def switched(resources: PipelineResources) -> Engine:
        engine = stage.open_engine(resources)
        return replace(engine, switch=at) if isinstance(engine, WrittenEngine) else engine

    is_written = isinstance(stage.pipeline.engine, WrittenEngine)
    watcher = Thread(target=watch if not is_written else lambda: None)
    watcher.start()
    try:
        yield replace(stage, open_engine=switched)
    finally:
        ended.set()
        watcher.join()


def _files(table: Path) -> list[Path]:
    return [each for each in table.rglob("part-*.parquet") if "_delta_log" not in each.parts]
