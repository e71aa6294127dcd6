"""The contenders of the command line: `sluice run`, cold, on a warm server, and without news."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import click
from deltalake import DeltaTable

from local.bench.comparisons import FEW
from local.bench.contender import Contender
from local.bench.place import HERE, Place
from local.bench.records import produce
from local.bench.whole_processes import seconds_of
from local.bench.world import PARTITIONS, OurPipeline, require_rows

# Until then a server still compiles much of what a batch runs, and the table has no checkpoint.
_EARLIER_BATCHES = 10


@dataclass
class ColdRun(Contender):
    """`sluice run`, which starts a Spark of its own."""

    place: Place = HERE

    def seconds(self) -> float:
        """A whole process, into an empty warehouse."""
        ours = self.world.pipeline(self.name, self.world.topic, place=self.place)
        seconds = run(ours)
        require_rows(ours.table, self.world.records)
        return seconds


@dataclass
class WarmRun(Contender):
    """`sluice run` of one pipeline that gets as many new records each turn, on a server.

    That is how a warm server is used: the pipeline, its table and its session are there already.
    """

    place: Place
    _landed: int = field(default=0, init=False)
    _ours: OurPipeline = field(init=False)

    @property
    def topic(self) -> str:
        """Its topic: the records are those of the others, once more each turn."""
        return f"{self.world.topic}_{self.name}"

    def prepare(self) -> None:
        """Its first batches create the table and warm the session; they are not measured."""
        self._ours = self.world.pipeline(self.name, self.topic, place=self.place)
        self.world.new_topic(self.topic)
        self._land(self.world.records)
        for _ in range(_EARLIER_BATCHES - 1):
            self._produce_and_land(min(FEW, self.world.records))

    def seconds(self) -> float:
        """A whole process, which lands the news."""
        return self._produce_and_land(self.world.records)

    def _produce_and_land(self, records: int) -> float:
        produce(self.world.bootstrap, self.topic, PARTITIONS, records)
        return self._land(records)

    def _land(self, records: int) -> float:
        self._landed += records
        seconds = run(self._ours)
        require_rows(self._ours.table, self._landed)
        return seconds


@dataclass
class NothingNew(Contender):
    """`sluice run` of a pipeline that has read everything."""

    _ours: OurPipeline = field(init=False)

    def prepare(self) -> None:
        """Land everything."""
        self._ours = self.world.pipeline(self.name, self.world.topic)
        run(self._ours)

    def seconds(self) -> float:
        """A whole process, which finds nothing and changes nothing."""
        before = DeltaTable(self._ours.table).version()
        seconds = run(self._ours)
        if DeltaTable(self._ours.table).version() != before:
            raise click.ClickException(f"{self._ours.table}: changed, although nothing was new")
        require_rows(self._ours.table, self.world.records)
        return seconds


def run(ours: OurPipeline) -> float:
    """Seconds of `sluice run` as a whole process."""
    command = [str(Path(sys.executable).with_name("sluice")), "run", ours.name]
    return seconds_of([command], ours.environment, ours.log)
