"""The contenders under spark-submit: plain Spark, with more or fewer of our settings; `ingest`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sluice.lake.own_classes import LOG_STORE_KEY
from sluice.lake.requirements import STATIC
from sluice.lake.session import own_conf, server_conf, session_conf, spark_conf
from sluice.spec_file.pipeline_spec import PipelineSpec

from local.bench.contender import Contender
from local.bench.records import SCHEMA
from local.bench.whole_processes import seconds_of
from local.bench.world import JSON, plain_environment, require_rows
from local.embedded.airflow_processes import ROOT

# By the number of records to read.
Settings = Callable[[int], Mapping[str, str]]
_HERE = Path(__file__).parent
_JARS = "spark.driver.extraClassPath"
_ANY = {"version": 1, "pipeline": "any", "table": "any", "topics": ["any"]}


def as_users_run_it(_: int) -> Mapping[str, str]:
    """Spark's defaults, and what Delta needs."""
    return {_JARS: server_conf()[_JARS], **STATIC}


def with_our_jvm(records: int) -> Mapping[str, str]:
    """All that our JVMs are started with, but our own classes; nothing of our sessions."""
    ours = {key: text for key, text in own_conf(records).items() if key != LOG_STORE_KEY}
    return {**ours, **STATIC}


def with_all_ours(records: int) -> Mapping[str, str]:
    """The JVM's settings and the session's: a pipeline's configuration without our classes."""
    spec = PipelineSpec.model_validate({**_ANY, "format": {"type": "raw"}})
    return {**with_our_jvm(records), **session_conf(spec)}


@dataclass
class Plain(Contender):
    """A batch read of a fixed range, and an append to Delta."""

    settings: Settings
    schema: str | None = SCHEMA
    form: str = "json"

    def seconds(self) -> float:
        """A whole spark-submit into a new table."""
        folder, world = self.world.empty_folder(self.name), self.world
        ends = json.dumps({world.topic: world.ends})
        words = [world.bootstrap, world.topic, ends, str(folder / "table")]
        words += [self.schema, self.form] if self.schema else []
        job = submitted(_HERE / "plain_job.py", self.settings(world.records), words)
        seconds = seconds_of([job], plain_environment(), folder / "said.log")
        require_rows(folder / "table", world.records)
        return seconds


@dataclass
class AvailableNow(Contender):
    """Structured Streaming from the earliest offset with `availableNow`, into Delta."""

    settings: Settings

    def seconds(self) -> float:
        """A whole spark-submit into a new table, with a new checkpoint."""
        folder, world = self.world.empty_folder(self.name), self.world
        places = [str(folder / "table"), str(folder / "checkpoint")]
        words = [world.bootstrap, world.topic, *places, SCHEMA]
        job = submitted(_HERE / "stream_job.py", self.settings(world.records), words)
        seconds = seconds_of([job], plain_environment(), folder / "said.log")
        require_rows(folder / "table", world.records)
        return seconds


@dataclass
class Ingest(Contender):
    """`jobs/ingest.py` alone, as Airflow submits it; the plan was made before."""

    form: str = JSON

    def seconds(self) -> float:
        """A whole spark-submit into a new table."""
        ours = self.world.pipeline(self.name, self.world.topic, self.form)
        pipeline = ours.open()
        reference = pipeline.plan("bench", "bench").as_dict().items()
        words = [text for key, value in reference for text in (f"--{key}", str(value))]
        job = submitted(
            ROOT / "jobs" / "ingest.py", spark_conf(pipeline.spec, self.world.records), words
        )
        seconds = seconds_of([job], ours.environment, ours.log)
        require_rows(ours.table, self.world.records)
        return seconds


def submitted(job: Path, settings: Mapping[str, str], words: list[str]) -> list[str]:
    """The command line; the master is Spark's default, all cores of this machine."""
    pairs = [text for pair in settings.items() for text in ("--conf", "=".join(pair))]
    return [str(Path(sys.executable).with_name("spark-submit")), *pairs, str(job), *words]
