"""A pipeline under test: its folder, the command line, its steps in this process, the oracle."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from deltalake import DeltaTable
from sluice.lake.opened import SparkEngine
from sluice.lake.port import Engine
from sluice.offsets.batches import BatchReference
from sluice.pipeline import Pipeline, find_pipeline
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.write_receipts import Settlement

from local.embedded.spark_server import SparkServer
from tests.oracle import StateRules, Verdict, assert_exact, judge, judge_state
from tests.worlds.command_line import run_main
from tests.worlds.processes import JAVA_TUNING, SLUICE, Run, start
from tests.worlds.records import numbered, produce
from tests.worlds.state_rules import Deletes, rules_of
from tests.worlds.written_lake.broker_records import broker_records
from tests.worlds.written_lake.engine import WrittenEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Range = tuple[int, int]


def no_spark() -> SparkSession:
    """A `session` for tests in which nothing may start Spark."""
    raise AssertionError("Spark was asked for")


@dataclass
class Installed:
    """One pipeline with its own folder. `session` returns the tests' one Spark session.

    With `written` its batches land without Spark, in this process.
    `kafka` is what its connection says besides, or instead of, the address that the tests use.
    Its own processes start a Spark each, or use the server; `given` is further environment of
    theirs.
    """

    folder: Path
    bootstrap: str
    topics: list[str]
    session: Callable[[], SparkSession]
    name: str = "trips"
    server: SparkServer | None = None
    written: bool = False
    kafka: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def data(self) -> Path:
        return self.warehouse / self.name

    @property
    def spec_file(self) -> Path:
        return self.folder / "pipelines" / f"{self.name}.yaml"

    @property
    def group(self) -> str:
        return f"sluice-{self.name}-{self.folder.name}"

    @property
    def environment(self) -> dict[str, str]:
        extra = {"bootstrap.servers": self.bootstrap, **self.kafka}
        connection = {"conn_type": "kafka", "extra": extra}
        return {
            "SLUICE_WAREHOUSE": str(self.warehouse),
            "SLUICE_PIPELINES": str(self.spec_file.parent),
            "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection),
            **({"AIRFLOW_CONN_SPARK_DEFAULT": self.server.connection} if self.server else {}),
            **JAVA_TUNING,
            **self.given,
        }

    def write_spec(self, **keys: Any) -> None:
        """Write the spec file; these keys replace those given before."""
        self.keys |= keys
        spec = {
            "version": 1,
            "pipeline": self.name,
            "table": self.name,
            "topics": self.topics,
            "format": {"type": "raw"},
            "consumer_group": self.group,
            **self.keys,
        }
        if "topic_pattern" in spec:
            del spec["topics"]
        self.spec_file.parent.mkdir(parents=True, exist_ok=True)
        self.spec_file.write_text(yaml.safe_dump(spec), encoding="utf-8")

    # In this process

    def open(self) -> Pipeline:
        found = find_pipeline(self.name, self.environment)
        return replace(found, engine=self.engine(found.resources))

    def engine(self, resources: PipelineResources) -> Engine:
        if self.written:
            return WrittenEngine(broker_records(resources.client))
        return SparkEngine(lambda *_: contextlib.nullcontext(self.session()))

    def plan(self) -> BatchReference:
        return self.open().plan("test", "pytest")

    def ingest(self, work: BatchReference) -> None:
        pipeline = self.open()
        with pipeline.open_lake() as lake:
            pipeline.ingest(work, lake)

    def settle(self) -> Settlement:
        return self.open().settle("test", "pytest")

    def run(self) -> list[dict[str, Any]]:
        """What `sluice run` does, with the tests' Spark session. Returns the settled batches."""
        events: list[dict[str, Any]] = []
        while work := self.plan():
            self.ingest(work)
            events += self.settle().events
        return events + self.settle().events

    # The command line

    def sluice(self, command: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this process. A command that starts Spark or dies needs `process`."""
        words = ["sluice", *command.split(), self.name, *args]
        return run_main(words, {**self.environment, **env}, self.folder)

    def process(self, command: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command in its own process."""
        return self.start(command, *args, **env).end()

    def start(self, command: str, *args: str, **env: str) -> Run:
        return self._start([str(SLUICE), *command.split(), self.name, *args], env)

    def start_alone(self, script: str, **env: str) -> Run:
        """Start one step without Spark. Planning runs once for each line of input."""
        return self._start([sys.executable, "-c", script, self.name], env)

    def alone(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.start_alone(script, **env).end("\n")

    def _start(self, command: Sequence[str], env: Mapping[str, str]) -> Run:
        self.runs.append(start(command, self.folder, {**self.environment, **env}))
        return self.runs[-1]

    # The current state

    def judge(self, **expectations: Any) -> Verdict:
        """The oracle's verdict; AssertionError if anything is violated."""
        return self._ask(assert_exact, expectations)

    def verdict(self, **expectations: Any) -> Verdict:
        """The oracle's verdict, good or bad."""
        return self._ask(judge, expectations)

    def _ask(self, oracle: Callable[..., Verdict], expectations: dict[str, Any]) -> Verdict:
        if self.topics and "fmt" not in expectations:
            form = self.keys.get("format", {"type": "raw"})
            unmatched = form.get("allow_unmatched", False) or self.keys.get("rescue", False)
            expectations |= {
                "fmt": form["type"],
                "schema": form.get("schema"),
                "allow_unmatched": unmatched,
            }
        where = (self.bootstrap, self.warehouse, self.name, self.name, self.topics)
        return oracle(*where, **{"group": self.group, **expectations})

    def judge_state(self, rules: StateRules | None = None, **said: Any) -> None:
        """AssertionError with all that is wrong with the state table; see `state_violations`."""
        if told := self.state_violations(rules, **said):
            raise AssertionError("\n".join(told))

    def state_violations(
        self, rules: StateRules | None = None, deletes: Deletes | None = None, **said: Any
    ) -> list[str]:
        """What the oracle says of the state table. Without `rules` by the spec's, and `deletes`.

        `said` is `collected`, `caught_up`, `anew`.
        """
        rules = rules or rules_of(self.keys, self.data, deletes)
        return judge_state(self.warehouse, self.name, self.name, rules, **said)

    def rows(self, table: str = "") -> list[dict[str, Any]]:
        """Rows of the data table, or of another table in the warehouse; [] without a table."""
        where = self.warehouse / (table or self.name)
        if not (where / "_delta_log").exists():
            return []
        made = DeltaTable(where)
        if "deletionVectors" in (made.protocol().reader_features or []):
            # Delta-rs does not read them.
            read = self.session().read.format("delta").load(str(where))
            return [row.asDict() for row in read.collect()]
        found: list[dict[str, Any]] = made.to_pyarrow_table().to_pylist()
        return found

    def quarantined(self) -> list[dict[str, Any]]:
        return self.rows(f"{self.name}__quarantine")

    def version(self) -> int | None:
        """The data table's version; None while there is no table."""
        if not (self.data / "_delta_log").exists():
            return None
        return DeltaTable(self.data).version()

    def offsets(self, event: str) -> list[dict[str, Any]]:
        rows = [row for row in self.rows(f"{self.name}__offsets") if row["event"] == event]
        return sorted(rows, key=lambda row: (row["batch_id"] or 0, row["topic"], row["partition"]))

    def ranges(self, event: str = "planned") -> dict[str, dict[str, Range]]:
        """Batch → `topic[partition]` → range, without `topic` if there is only one."""
        found: dict[str, dict[str, Range]] = {}
        for row in self.offsets(event):
            topic = "" if len(self.topics) == 1 else row["topic"]
            place = f"{topic}[{row['partition']}]"
            found.setdefault(row["batch"], {})[place] = (row["start_offset"], row["end_offset"])
        return found


# The values of the fixtures with these names.
Topic = Callable[..., str]
Pipelines = Callable[..., Installed]


def more(trips: Installed, count: int, first: int = 0, partition: int = 0) -> None:
    """Produce numbered records."""
    produce(trips.bootstrap, trips.topics[0], numbered(count, first), partition)


def landed(trips: Installed, batches: int = 2, records: int = 10) -> Installed:
    """Produce this many records for each batch, and land each batch."""
    for number in range(batches):
        more(trips, records, records * number)
        trips.run()
    return trips
