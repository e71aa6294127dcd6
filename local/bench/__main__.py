"""The benchmark: `ingest` against a plain Spark read and Delta append, turn by turn in one run.

    python -m local.bench [--records 2000000] [--rounds 3] [raw] [json]

Both are whole spark-submit processes over the same offset ranges. Only the ratio counts: absolute
times depend on the machine and its load.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from confluent_kafka import Producer
from deltalake import DeltaTable
from rich.console import Console
from rich.table import Table
from sluice.lake.session import spark_conf
from sluice.pipeline import open_pipeline
from sluice.settings import Settings, connection_extra
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.spec_files import load_spec

from local.embedded.airflow_processes import ROOT, connections
from local.embedded.broker import Broker
from local.embedded.topics import create_topic

FOLDER = ROOT / "build" / "bench"
TOPIC, PARTITIONS = "bench", 4
SCHEMA = (
    "id BIGINT, carrier STRING, flight INT, origin STRING, dest STRING, dep_delay DOUBLE,"
    " cancelled BOOLEAN, note STRING, time_hour TIMESTAMP"
)
FORMATS = {"raw": "{type: raw}", "json": f'{{type: json, schema: "{SCHEMA}"}}'}
# The plain job gets the settings that Delta needs, and none that make it faster.
NEEDED = ("spark.driver.extraClassPath", "spark.sql.extensions", "spark.sql.catalog.spark_catalog")


@dataclass(frozen=True)
class Bench:
    """The records to read, and the two ways to read them."""

    bootstrap: str
    records: int
    form: str

    def ours(self) -> float:
        """Seconds of a whole `ingest` into a new table; the plan was made before."""
        folder = empty(FOLDER / self.form)
        settings = {"SLUICE_WAREHOUSE": str(folder), "SLUICE_PIPELINES": str(folder)}
        environment = {**connections(self.bootstrap), **settings}
        spec = self._spec(folder)
        extra = connection_extra(spec.kafka, environment)
        work = open_pipeline(spec, Settings.from_environment(settings), extra).plan(
            "bench", "bench"
        )
        reference = work.as_dict().items()
        arguments = [text for key, value in reference for text in (f"--{key}", str(value))]
        job = [str(ROOT / "jobs" / "ingest.py"), *arguments]
        return self._submit(job, spark_conf(spec), environment, folder / self.form)

    def plain(self) -> float:
        """Seconds of the plain job into a new table."""
        table = empty(FOLDER / f"{self.form}_plain")
        conf = {key: value for key, value in spark_conf(self._spec(table)).items() if key in NEEDED}
        ends = {str(number): self.records // PARTITIONS for number in range(PARTITIONS)}
        arguments = [self.bootstrap, TOPIC, json.dumps({TOPIC: ends}), str(table / "table")]
        schema = [SCHEMA] if self.form == "json" else []
        job = [str(Path(__file__).with_name("plain_job.py")), *arguments, *schema]
        return self._submit(job, conf, {}, table / "table")

    def _spec(self, folder: Path) -> PipelineSpec:
        path = folder / f"{self.form}.yaml"
        path.write_text(
            f"version: 1\npipeline: {self.form}\ntopics: [{TOPIC}]\ntable: {self.form}\n"
            f"format: {FORMATS[self.form]}\n",
            encoding="utf-8",
        )
        return load_spec(path)

    def _submit(
        self, job: list[str], conf: Mapping[str, str], environment: Mapping[str, str], table: Path
    ) -> float:
        submit = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[2]"]
        settings = [text for key, value in conf.items() for text in ("--conf", f"{key}={value}")]
        started = time.monotonic()
        done = subprocess.run(
            [*submit, *settings, *job],
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, **environment},
            capture_output=True,
            text=True,
        )
        seconds = time.monotonic() - started
        if done.returncode:
            raise click.ClickException(f"{job[0]} failed:\n{done.stderr[-3000:]}")
        found = DeltaTable(table).to_pyarrow_dataset().count_rows()
        if found != self.records:
            raise click.ClickException(f"{job[0]}: expected {self.records:,} rows, found {found:,}")
        return seconds


@click.command(help=__doc__)
@click.option("--records", default=2_000_000, show_default=True, type=click.IntRange(min=4))
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1))
@click.argument("formats", nargs=-1, type=click.Choice(list(FORMATS)))
def main(records: int, rounds: int, formats: tuple[str, ...]) -> None:
    """Produce the records once, then run both jobs in turn."""
    console = Console(highlight=False)
    records -= records % PARTITIONS
    with Broker(empty(FOLDER) / "broker") as broker:
        with console.status(f"producing {records:,} records"):
            size = _produce(broker.bootstrap, records)
        console.print(f"{records:,} JSON records of {size} bytes in {PARTITIONS} partitions")
        table = Table("format", "ingest, s", "plain, s", "ratios", "median ratio")
        for form in formats or FORMATS:
            table.add_row(form, *_compare(console, Bench(broker.bootstrap, records, form), rounds))
        console.print(table)


def _compare(console: Console, bench: Bench, rounds: int) -> list[str]:
    pairs = []
    for turn in range(rounds):
        ours, plain = bench.ours(), bench.plain()
        console.print(f"{bench.form} round {turn + 1}: ingest {ours:.1f} s, plain {plain:.1f} s")
        pairs.append((ours, plain))
    ratios = [ours / plain for ours, plain in pairs]
    return [
        f"{statistics.median(ours for ours, _ in pairs):.1f}",
        f"{statistics.median(plain for _, plain in pairs):.1f}",
        " ".join(f"{ratio:.2f}" for ratio in ratios),
        f"{statistics.median(ratios):.2f}",
    ]


def _produce(bootstrap: str, records: int) -> int:
    create_topic(bootstrap, TOPIC, PARTITIONS, {})
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50})
    size = 0
    for number in range(records):
        value = _record(number)
        size += len(value)
        while True:
            try:
                producer.produce(TOPIC, value, f"k{number}", partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    if left := producer.flush(120):
        raise click.ClickException(f"{left} records were not acknowledged")
    return size // records


def _record(number: int) -> str:
    flight = {
        "id": number,
        "carrier": ("UA", "DL", "AA", "EV")[number % 4],
        "flight": number % 6000,
        "origin": "JFK",
        "dest": "LAX",
        "dep_delay": number % 97 - 20.5,
        "cancelled": number % 50 == 0,
        "note": f"gate {number % 80}, stand {number % 11}, on time as far as we know today",
        "time_hour": f"2013-{number % 12 + 1:02d}-{number % 28 + 1:02d}T{number % 24:02d}:00:00Z",
    }
    return json.dumps(flight)


def empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


if __name__ == "__main__":
    main()
