"""The contenders: each function is one turn, whole processes that land every record once.

Each returns seconds. It raises ClickException unless every record was landed once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
import pyarrow.dataset as ds
from deltalake import DeltaTable
from sluice.driver import SCRIPTS
from sluice.lake.own_classes import LOG_STORE_KEY
from sluice.lake.requirements import STATIC
from sluice.lake.session import own_conf, server_conf, session_conf, spark_conf
from sluice.spec_file.pipeline_spec import PipelineSpec

from local.bench.harness import empty
from local.bench.records import SCHEMA
from local.bench.stage import Place, Stage
from local.bench.whole_processes import seconds_of
from local.bench.world import JSON, OurPipeline, World, plain_environment, require_rows, rows_of

FEW = 10_000
# Until then a server still compiles much of what a batch runs, and the table has no checkpoint.
_EARLIER_BATCHES = 10
_READERS = 2
_HERE = Path(__file__).parent
_JARS = "spark.driver.extraClassPath"
_ANY = {"version": 1, "pipeline": "any", "table": "any", "topics": ["any"]}

# By the number of records to read.
Settings = Callable[[int], Mapping[str, str]]
Placed = Callable[[Stage], Place]


def as_users_run_it(_: int) -> Mapping[str, str]:
    """Spark's defaults, and what Delta needs."""
    return {_JARS: server_conf()[_JARS], **STATIC}


def with_our_jvm(records: int) -> Mapping[str, str]:
    """The settings of a JVM of Sluice, without its own classes and without those of sessions."""
    ours = {key: text for key, text in own_conf(records).items() if key != LOG_STORE_KEY}
    return {**ours, **STATIC}


def with_all_ours(records: int) -> Mapping[str, str]:
    """The JVM's settings and the session's: a pipeline's configuration without our classes."""
    spec = PipelineSpec.model_validate({**_ANY, "format": {"type": "raw"}})
    return {**with_our_jvm(records), **session_conf(spec)}


def raw_limit(world: World, name: str) -> float:
    """librdkafka to Arrow to Parquet: two processes that only read and write, each half."""
    folder, ends = empty(world.folder(name)), list(world.ends.items())
    reader = [sys.executable, str(_HERE / "raw_reader.py"), world.stage.bootstrap, world.topic]
    commands = [
        [*reader, json.dumps(dict(ends[at::_READERS])), str(folder / f"{at}.parquet")]
        for at in range(_READERS)
    ]
    seconds = seconds_of(commands, plain_environment(), folder / "said.log")
    found = ds.dataset(sorted(folder.glob("*.parquet"))).count_rows()
    if found != world.records:
        raise click.ClickException(f"{folder}: expected {world.records:,}, found {found:,}")
    return seconds


def plain(
    world: World, name: str, settings: Settings, schema: str | None = SCHEMA, form: str = "json"
) -> float:
    """A batch read of a fixed range, and an append to a new Delta table."""
    ends = json.dumps({world.topic: world.ends})
    return _plain_job(world, name, settings, "batch", ends, *((schema, form) if schema else ()))


def available_now(world: World, name: str, settings: Settings) -> float:
    """Structured Streaming from the earliest offset with `availableNow`, into a new Delta table."""
    checkpoint = world.folder(name) / "checkpoint"
    return _plain_job(world, name, settings, "stream", str(checkpoint), SCHEMA)


def _plain_job(world: World, name: str, settings: Settings, kind: str, *words: str) -> float:
    folder = empty(world.folder(name))
    words = (kind, world.stage.bootstrap, world.topic, str(folder / "table"), *words)
    job = submitted(_HERE / "plain_job.py", settings(world.records), words)
    seconds = seconds_of([job], plain_environment(), folder / "said.log")
    require_rows(folder / "table", world.records)
    return seconds


def ingest(world: World, name: str, form: str = JSON) -> float:
    """`driver/ingest.py` alone, as Airflow submits it, into a new table, planned before."""
    ours = OurPipeline(world, name).create(world.topic, form)
    pipeline = ours.open()
    reference = pipeline.plan("bench", "bench").as_dict().items()
    words = [text for key, value in reference for text in (f"--{key}", str(value))]
    settings = spark_conf(pipeline.spec, world.records)
    seconds = ours.seconds_of(submitted(SCRIPTS / "ingest.py", settings, words))
    require_rows(ours.table, world.records)
    return seconds


def submitted(job: Path, settings: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """The command line; the master is Spark's default, all cores of this machine."""
    pairs = [text for pair in settings.items() for text in ("--conf", "=".join(pair))]
    return [str(Path(sys.executable).with_name("spark-submit")), *pairs, str(job), *words]


def cold_run(world: World, name: str, place: Placed = lambda _: Place(), *lines: str) -> float:
    """`sluice run`, which starts a Spark of its own, into an empty warehouse.

    `lines` are further ones of the spec.
    """
    ours = OurPipeline(world, name, place(world.stage)).create(world.topic, JSON, *lines)
    seconds = ours.seconds_of_run()
    require_rows(ours.table, world.records)
    return seconds


def warm_run(world: World, name: str, place: Placed) -> float:
    """`sluice run` of one pipeline that gets as many new records each turn, on a server.

    That is how a warm server is used: the pipeline, its table and its session are there already.
    """
    return _land_news(OurPipeline(world, name, place(world.stage)), world.records)


def prepare_warm_run(world: World, name: str, place: Placed) -> None:
    """Its first batches create the table and warm the session; they are not measured."""
    ours = OurPipeline(world, name, place(world.stage))
    ours.create(_own_topic(ours))
    world.new_topic(_own_topic(ours))
    ours.seconds_of_run()
    require_rows(ours.table, world.records)
    for _ in range(_EARLIER_BATCHES - 1):
        _land_news(ours, min(FEW, world.records))


def _own_topic(ours: OurPipeline) -> str:
    """The records are those of the others, once more each turn."""
    return f"{ours.world.topic}_{ours.contender}"


def _land_news(ours: OurPipeline, records: int) -> float:
    before = rows_of(ours.table)
    ours.world.produce(_own_topic(ours), records)
    seconds = ours.seconds_of_run()
    require_rows(ours.table, before + records)
    return seconds


def prepare_nothing_new(world: World, name: str) -> None:
    """Land everything."""
    OurPipeline(world, name).create(world.topic).seconds_of_run()


def nothing_new(world: World, name: str) -> float:
    """`sluice run` of a pipeline that has read everything: it changes nothing."""
    ours = OurPipeline(world, name)
    before = DeltaTable(ours.table).version()
    seconds = ours.seconds_of_run()
    if DeltaTable(ours.table).version() != before:
        raise click.ClickException(f"{ours.table}: changed, although nothing was new")
    require_rows(ours.table, world.records)
    return seconds
