"""A pipeline under test: its folder, the command line, the verbs in this process, the oracle."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil
import yaml
from deltalake import DeltaTable
from sluice.offsets.batches import BatchReference
from sluice.pipeline import Pipeline, find_pipeline
from sluice.protocol.settle.write_receipts import Settlement

from local.embedded.guard import is_spark
from tests.oracle import Verdict, assert_exact, judge, marked_processes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLUICE = Path(sys.executable).with_name("sluice")
PLANNING_ALONE = """
import json, sys
from sluice.cli.caller import current_user, open_named
pipeline, origin = open_named(sys.argv[1]), current_user()
print("ready", flush=True)
for _ in sys.stdin:
    print(json.dumps(pipeline.plan(origin.run_id, origin.actor).as_dict()), flush=True)
"""
# The first compiler alone starts faster, and the second would compete for the same cores.
JAVA_TUNING = {
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
SETTLING_ALONE = """
import sys
from sluice.cli.caller import current_user, open_named
origin = current_user()
open_named(sys.argv[1]).settle(origin.run_id, origin.actor)
"""

Found = TypeVar("Found")
Range = tuple[int, int]


def killed_at(point: str) -> dict[str, str]:
    """The environment in which a process kills itself at a step of the protocol."""
    return {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": f"{point}: kill"}


def no_spark() -> SparkSession:
    """For `session`, where nothing may start Spark any more."""
    raise AssertionError("Spark was asked for")


def until(look: Callable[[], Found], what: str, seconds: float = 60, pause: float = 0.05) -> Found:
    """Look again and again; fails when nothing was found in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(pause)
    return found


@dataclass
class Run:
    """A process of the product, with everything that it started. Its stderr goes to a file."""

    process: subprocess.Popen[str]
    marker: str
    stderr: Path

    @property
    def family(self) -> set[int]:
        """Its processes that still run, orphans too."""
        return {pid for pid in marked_processes(self.marker) if _runs(pid)}

    def jvm(self) -> psutil.Process:
        """Its JVM, as soon as there is one."""

        def look() -> list[psutil.Process]:
            with contextlib.suppress(psutil.NoSuchProcess):
                return [each for each in map(psutil.Process, self.family) if is_spark(each)]
            return []

        return until(look, "a JVM")[0]

    def says(self, text: str) -> None:
        """Wait until it, or its JVM, has said this on stderr."""

        def said() -> bool:
            ended = self.process.poll() is not None
            errors = self.stderr.read_text()
            assert text in errors or not ended, f"ended without a word of {text!r}: {errors}"
            return text in errors

        until(said, text, 120)

    def kill(self) -> None:
        """SIGKILL the process alone; what it started may go on."""
        self.process.kill()
        self.process.wait()

    def clear_away(self) -> None:
        """After a test that failed: nothing goes on."""
        for pid in self.family:
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def end(self, given: str = "") -> subprocess.CompletedProcess[str]:
        """Give it its last input; wait until it has ended, and nothing that it started is left."""
        output, _ = self.process.communicate(given, timeout=240)
        until(lambda: not self.family, "an end of all that the run started", 30)
        code, errors = self.process.returncode, self.stderr.read_text()
        return subprocess.CompletedProcess(self.process.args, code, output, errors)


@dataclass
class Installed:
    """One pipeline with a folder of its own. `session` gives the tests' one Spark session."""

    folder: Path
    bootstrap: str
    topics: list[str]
    session: Callable[[], SparkSession]
    name: str = "trips"
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
        connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": self.bootstrap}}
        return {
            "SLUICE_WAREHOUSE": str(self.warehouse),
            "SLUICE_PIPELINES": str(self.spec_file.parent),
            "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection),
            **JAVA_TUNING,
        }

    def write_spec(self, **keys: Any) -> None:
        """Write the spec's file; keys that are given replace those given before."""
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
        return find_pipeline(self.name, self.environment)

    def plan(self) -> BatchReference:
        return self.open().plan("test", "pytest")

    def ingest(self, work: BatchReference) -> None:
        from sluice.lake.spark_lake import SparkLake

        pipeline = self.open()
        parts = pipeline.parts
        lake = SparkLake(self.session(), parts.client, parts.spec, parts.tables)
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

    # In a process of its own

    def sluice(self, command: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.start(command, *args, **env).end()

    def start(self, command: str, *args: str, **env: str) -> Run:
        return self._start([str(SLUICE), *command.split(), self.name, *args], env)

    def start_alone(self, script: str, **env: str) -> Run:
        """One verb without Spark. Planning is done once for each line of input."""
        return self._start([sys.executable, "-c", script, self.name], env)

    def alone(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.start_alone(script, **env).end("\n")

    def _start(self, command: Sequence[str], env: dict[str, str]) -> Run:
        token = uuid.uuid4().hex
        stderr = self.folder / f"{token}.stderr"
        with stderr.open("w") as errors:
            process = subprocess.Popen(
                command,
                env={**os.environ, **self.environment, "SLUICE_TEST_RUN": token, **env},
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.runs.append(Run(process, f"SLUICE_TEST_RUN={token}", stderr))
        return self.runs[-1]

    # What there is now

    def judge(self, **expectations: Any) -> Verdict:
        """The oracle: everything holds, or AssertionError."""
        return self._ask(assert_exact, expectations)

    def verdict(self, **expectations: Any) -> Verdict:
        """What the oracle says, be it good or bad."""
        return self._ask(judge, expectations)

    def _ask(self, oracle: Callable[..., Verdict], expectations: dict[str, Any]) -> Verdict:
        if self.topics and "fmt" not in expectations:
            form = self.keys.get("format", {"type": "raw"})
            expectations |= {"fmt": form["type"], "schema": form.get("schema")}
        where = (self.bootstrap, self.warehouse, self.name, self.name, self.topics)
        return oracle(*where, **{"group": self.group, **expectations})

    def rows(self, table: str = "") -> list[dict[str, Any]]:
        """Rows of the data table, or of another one below the warehouse; [] without a table."""
        where = self.warehouse / (table or self.name)
        if not (where / "_delta_log").exists():
            return []
        found: list[dict[str, Any]] = DeltaTable(where).to_pyarrow_table().to_pylist()
        return found

    def quarantined(self) -> list[dict[str, Any]]:
        return self.rows(f"{self.name}__quarantine")

    def version(self) -> int | None:
        """The data table's version; None while there is no table."""
        if not (self.data / "_delta_log").exists():
            return None
        return DeltaTable(self.data).version()

    def offsets(self, event: str) -> list[dict[str, Any]]:
        rows = [row for row in self.rows("_sluice/offsets") if row["event"] == event]
        return sorted(rows, key=lambda row: (row["batch_id"] or 0, row["topic"], row["partition"]))

    def ranges(self, event: str = "planned") -> dict[str, dict[str, Range]]:
        """Batch → `topic[partition]` → range, with `topic` left out when there is one only."""
        found: dict[str, dict[str, Range]] = {}
        for row in self.offsets(event):
            topic = "" if len(self.topics) == 1 else row["topic"]
            place = f"{topic}[{row['partition']}]"
            found.setdefault(row["batch"], {})[place] = (row["start_offset"], row["end_offset"])
        return found


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
