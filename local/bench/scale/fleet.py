"""A fleet: what the commands over all pipelines take, whole processes with their start."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from sluice.offsets.quantities import format_count

from local.bench.scale.build import build
from local.bench.scale.world import World, new_topic

COMMANDS = ("list", "check", "status", "status --json")
_ROUNDS = 3


@dataclass(frozen=True)
class Seconds:
    """How long a command or a page took; the median, where it was taken more than once."""

    what: str
    seconds: float

    @property
    def cells(self) -> list[str]:
        """The cells of the line."""
        return [self.what, "", f"{self.seconds:.2f}", "", "", "", ""]


def fleet(folder: Path, bootstrap: str, counts: Sequence[int]) -> Iterator[Seconds]:
    """Each command over so many pipelines, whose tables are in one warehouse."""
    new_topic(bootstrap, "fleet", 2, 11)
    worlds = [
        World(folder / "tables", bootstrap, f"f{number:04d}", "fleet", 2, 10)
        for number in range(max(counts))
    ]
    for world in worlds:
        build(world)
    for count in counts:
        specs = write_specs(folder / f"specs{count}", worlds[:count])
        for command in COMMANDS:
            taken = [_seconds(command, worlds[0], specs) for _ in range(_ROUNDS)]
            named = format_count(count, "pipeline")
            yield Seconds(f"{named}: sluice {command}", statistics.median(taken))


def write_specs(folder: Path, worlds: Sequence[World]) -> Path:
    """The specs of these worlds in a new folder."""
    folder.mkdir(parents=True)
    for world in worlds:
        # JSON is YAML.
        text = world.spec.model_dump_json(exclude_unset=True, by_alias=True)
        (folder / f"{world.pipeline}.yaml").write_text(text, encoding="utf-8")
    return folder


def _seconds(command: str, world: World, specs: Path) -> float:
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": world.bootstrap}}
    environment = {
        **os.environ,
        "SLUICE_WAREHOUSE": str(world.warehouse),
        "SLUICE_PIPELINES": str(specs),
        "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection),
    }
    words = [str(Path(sys.executable).with_name("sluice")), *command.split()]
    started = time.monotonic()
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    if done.returncode:
        raise click.ClickException(f"{command}: {done.stderr[-3000:]}")
    return seconds
