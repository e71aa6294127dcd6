"""The contenders: each has tables of its own, reads the same feed, and must have its state.

What is written by hand has Spark's defaults, what Delta needs, and as many shuffle partitions as
Sluice: the default of 200 would cost it much, as a stream has no adaptive execution. On a Spark
Connect server its `foreachBatch` would need pandas; it keeps a session instead, which is quicker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import click
from sluice.processes import die_with_parent

from local.bench.contenders import as_users_run_it, submitted
from local.bench.harness import empty
from local.bench.stage import Place
from local.bench.state.feed import SCHEMA, Feed
from local.bench.state.rewritten import Rewritten, require_state, rewritten, version_of
from local.bench.whole_processes import seconds_of
from local.bench.world import OurPipeline, World, plain_environment

_JOB = Path(__file__).with_name("merge_job.py")
_BY_HAND = {**as_users_run_it(0), "spark.sql.shuffle.partitions": "4"}
_STATE = "state: {key: [id], order_by: [seq], deleted_when: \"op = 'd'\"}"
_FORM = f'{{type: json, schema: "{SCHEMA}"}}'


@dataclass
class Contender:
    """Whoever keeps a state of the feed. Its turn 0, the loading of all keys, is not measured."""

    world: World
    name: str
    feed: Feed
    turns: int = field(default=0, init=False)
    rewritten: Rewritten = field(default_factory=Rewritten, init=False)

    @property
    def folder(self) -> Path:
        """Its tables, and what it has said."""
        return self.world.folder(self.name)

    @property
    def state(self) -> Path:
        """Its state table."""
        return self.folder / "state"

    def begin(self) -> None:
        """What must be there before its turn 0."""
        empty(self.folder)

    def prepare(self) -> None:
        """Load all keys."""
        self.begin()
        self.feed.produce_until(0)
        self.run()
        require_state(self.state, self.feed.state)

    def turn(self) -> float:
        """The seconds of one more turn. Raises ClickException unless the state is right."""
        self.turns += 1
        self.feed.produce_until(self.turns)
        before = version_of(self.state)
        seconds = self.run()
        require_state(self.state, self.feed.state)
        self.rewritten += rewritten(self.state, before)
        return seconds

    def run(self) -> float:
        """The seconds in which it takes all that is new."""
        raise NotImplementedError


@dataclass
class Ours(Contender):
    """`sluice run`: it lands what is new, and brings the state up to date."""

    place: Place = field(default_factory=Place)

    @property
    def pipeline(self) -> OurPipeline:
        """Its pipeline."""
        return OurPipeline(self.world, self.name, self.place)

    @property
    def state(self) -> Path:
        """The table beside the data table."""
        data = self.pipeline.table
        return data.with_name(f"{data.name}__state")

    def begin(self) -> None:
        """Its pipeline."""
        self.pipeline.create(self.feed.topic, _FORM, _STATE)

    def run(self) -> float:
        """A whole process."""
        return self.pipeline.seconds_of_run()


@dataclass
class ByHand(Contender):
    """`merge_job.py`, started for every turn, on a Spark of its own."""

    kind: str = "merge"

    @property
    def words(self) -> list[str]:
        """The job's."""
        bootstrap = self.world.stage.bootstrap
        return [self.kind, bootstrap, self.feed.topic, str(self.folder), SCHEMA]

    def run(self) -> float:
        """A whole process."""
        command = submitted(_JOB, _BY_HAND, self.words)
        return seconds_of([command], plain_environment(), self.folder / "said.log")


@dataclass
class KeptByHand(ByHand, AbstractContextManager["KeptByHand"]):
    """The same with a session that is kept: no turn starts a process, or opens a session."""

    process: subprocess.Popen[str] | None = field(default=None, init=False)

    def __exit__(self, *_: object) -> None:
        if self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()

    def begin(self) -> None:
        """The process too."""
        empty(self.folder)
        self.process = subprocess.Popen(
            [sys.executable, str(_JOB), *self.words, "kept"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "said.log").open("w"),
            env={**plain_environment(), "PYSPARK_SUBMIT_ARGS": _as_submitted()},
            text=True,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )

    def run(self) -> float:
        """One more turn of the process."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        os.sync()
        started = time.monotonic()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "taken\n":
            raise click.ClickException(f"{self.name} has ended: {self.folder / 'said.log'}")
        return time.monotonic() - started


def _as_submitted() -> str:
    # spark-submit would keep the standard input from it.
    return " ".join([*(f"--conf {key}={text}" for key, text in _BY_HAND.items()), "pyspark-shell"])
