"""The world of a bench: a topic with the records, and pipelines of ours that read it."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import click
from deltalake import DeltaTable
from sluice.pipeline import Pipeline, find_pipeline

from local.bench.harness import empty
from local.bench.records import PARTITIONS, SCHEMA, produce
from local.bench.stage import Place, Stage
from local.bench.whole_processes import seconds_of
from local.embedded.airflow_processes import connections
from local.embedded.topics import create_topic

JSON, RAW = f'{{type: json, schema: "{SCHEMA}"}}', "{type: raw}"


@dataclass(frozen=True)
class World:
    """The same topic for all contenders, and a folder for each of them.

    `files` are beside every spec. `kind_of` says of a record's number what its header `kind` is.
    """

    stage: Stage
    topic: str
    records: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    partitions: int = PARTITIONS
    kind_of: Callable[[int], str] | None = None

    @property
    def ends(self) -> dict[str, int]:
        """The end offset of each partition."""
        each = self.records // self.partitions
        return {str(number): each for number in range(self.partitions)}

    def new_topic(self, name: str) -> int:
        """A topic with all records. Returns the mean size of a value, in bytes."""
        create_topic(self.stage.bootstrap, name, self.partitions, {"retention.ms": "-1"})
        return self.produce(name, self.records)

    def produce(self, topic: str, records: int) -> int:
        """Produce so many to one of its topics. Returns the mean size of a value, in bytes."""
        return produce(self.stage.bootstrap, topic, records, self.partitions, self.kind_of)

    def folder(self, name: str) -> Path:
        """The folder of a contender."""
        return self.stage.folder / str(self.records) / name


@dataclass(frozen=True)
class OurPipeline:
    """One pipeline: its spec is in its contender's folder, its tables where the place says."""

    world: World
    contender: str
    place: Place = field(default_factory=Place)

    @property
    def folder(self) -> Path:
        """The contender's."""
        return self.world.folder(self.contender)

    @property
    def name(self) -> str:
        """Its name."""
        return self.contender.replace("-", "_")

    @property
    def table(self) -> Path:
        """Its data table."""
        return self.place.files(self.folder) / self.name

    @property
    def environment(self) -> dict[str, str]:
        """A user's environment."""
        kafka = "AIRFLOW_CONN_KAFKA_DEFAULT"
        ours = {
            "SLUICE_PIPELINES": str(self.folder),
            kafka: connections(self.world.stage.bootstrap)[kafka],
        }
        return {**plain_environment(), **ours, **self.place.variables(self.folder)}

    def create(self, topic: str, form: str = JSON, *lines: str) -> Self:
        """Its spec over a topic, with further lines, in an empty folder; an empty warehouse."""
        shutil.rmtree(self.place.files(self.folder), ignore_errors=True)
        empty(self.folder)
        for name, content in self.world.files.items():
            (self.folder / name).write_bytes(content)
        # A group that has read before, beside tables that are gone, would be refused.
        group = f"bench-{uuid.uuid4().hex}"
        (self.folder / f"{self.name}.yaml").write_text(
            f"version: 1\npipeline: {self.name}\ntopics: [{topic}]\ntable: {self.name}\n"
            f"format: {form}\nconsumer_group: {group}\n" + "".join(f"{each}\n" for each in lines),
            encoding="utf-8",
        )
        return self

    def open(self) -> Pipeline:
        """The product's pipeline, in this process."""
        return find_pipeline(self.name, self.environment)

    def seconds_of(self, command: list[str]) -> float:
        """A command as a whole process, in a user's environment."""
        return seconds_of([command], self.environment, self.folder / "said.log")

    def seconds_of_run(self) -> float:
        """`sluice run` as a whole process."""
        return self.seconds_of([str(Path(sys.executable).with_name("sluice")), "run", self.name])


def plain_environment() -> Mapping[str, str]:
    """This process's environment, without any connection; Spark listens on loopback only."""
    theirs = {key: text for key, text in os.environ.items() if not key.startswith("AIRFLOW")}
    return {**theirs, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def rows_of(table: Path) -> int:
    """How many rows a Delta table has."""
    return int(DeltaTable(table).to_pyarrow_dataset().count_rows())


def require_rows(table: Path, expected: int) -> None:
    """Raise ClickException if a Delta table has another number of rows."""
    if (found := rows_of(table)) != expected:
        raise click.ClickException(f"{table}: expected {expected:,} rows, found {found:,}")
