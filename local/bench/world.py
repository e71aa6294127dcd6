"""The bench's world: a broker's topic with the records, and the folders for what is landed."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from deltalake import DeltaTable
from sluice.pipeline import Pipeline, find_pipeline

from local.bench.place import HERE, Place, Warehouse
from local.bench.records import SCHEMA, produce
from local.embedded.airflow_processes import connections
from local.embedded.topics import create_topic

PARTITIONS = 4
JSON, RAW = f'{{type: json, schema: "{SCHEMA}"}}', "{type: raw}"


@dataclass(frozen=True)
class World:
    """The same topic for all contenders, and a folder for each of them."""

    bootstrap: str
    folder: Path
    records: int

    @property
    def topic(self) -> str:
        """Its name."""
        return f"bench_{self.records}"

    @property
    def ends(self) -> dict[str, int]:
        """The end offset of each partition."""
        return {str(number): self.records // PARTITIONS for number in range(PARTITIONS)}

    def fill(self) -> int:
        """Make the topic with all records. Returns the mean size of a value, in bytes."""
        return self.new_topic(self.topic)

    def new_topic(self, name: str) -> int:
        """A topic of its own with the same records."""
        create_topic(self.bootstrap, name, PARTITIONS, {"retention.ms": "-1"})
        return produce(self.bootstrap, name, PARTITIONS, self.records)

    def empty_folder(self, name: str) -> Path:
        """The folder of a contender, with nothing in it."""
        return empty(self.folder / str(self.records) / name)

    def pipeline(self, name: str, topic: str, form: str = JSON, place: Place = HERE) -> OurPipeline:
        """A pipeline of ours over a topic, in an empty folder and an empty warehouse."""
        folder = self.empty_folder(name)
        # A group that has read before, beside tables that are gone, would be refused.
        group = f"bench-{uuid.uuid4().hex}"
        ours = OurPipeline(folder, name.replace("-", "_"), self.bootstrap, place)
        if ours.warehouse.files != folder:
            shutil.rmtree(ours.warehouse.files, ignore_errors=True)
        (folder / f"{ours.name}.yaml").write_text(
            f"version: 1\npipeline: {ours.name}\ntopics: [{topic}]\ntable: {ours.name}\n"
            f"format: {form}\nconsumer_group: {group}\n",
            encoding="utf-8",
        )
        return ours


@dataclass(frozen=True)
class OurPipeline:
    """One pipeline: its spec is in the folder, and its tables are where the place says."""

    folder: Path
    name: str
    bootstrap: str
    place: Place = HERE

    @property
    def warehouse(self) -> Warehouse:
        """Where its tables are."""
        return self.place.warehouse(self.folder)

    @property
    def table(self) -> Path:
        """Its data table."""
        return self.warehouse.files / self.name

    @property
    def log(self) -> Path:
        """What its processes say."""
        return self.folder / "said.log"

    @property
    def environment(self) -> dict[str, str]:
        """A user's environment."""
        kafka = "AIRFLOW_CONN_KAFKA_DEFAULT"
        ours = {
            "SLUICE_PIPELINES": str(self.folder),
            kafka: connections(self.bootstrap)[kafka],
        }
        return {**plain_environment(), **ours, **self.place.variables(self.folder)}

    def open(self) -> Pipeline:
        """The product's pipeline, in this process."""
        return find_pipeline(self.name, self.environment)


def plain_environment() -> Mapping[str, str]:
    """This process's environment, without any connection; Spark listens on loopback only."""
    theirs = {key: text for key, text in os.environ.items() if not key.startswith("AIRFLOW")}
    return {**theirs, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def empty(folder: Path) -> Path:
    """The folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def require_rows(table: Path, expected: int) -> None:
    """Raise ClickException if a Delta table has another number of rows."""
    found = DeltaTable(table).to_pyarrow_dataset().count_rows()
    if found != expected:
        raise click.ClickException(f"{table}: expected {expected:,} rows, found {found:,}")
