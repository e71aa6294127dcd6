"""The raw limit: two processes that only read and write, each half of the partitions."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pyarrow.dataset as ds

from local.bench.contender import Contender
from local.bench.whole_processes import seconds_of
from local.bench.world import plain_environment

_READER = Path(__file__).with_name("raw_reader.py")
_PROCESSES = 2


@dataclass
class RawLimit(Contender):
    """librdkafka to Arrow to Parquet: without decoding, commit or proof."""

    def seconds(self) -> float:
        """From the first process's start to the last one's end."""
        folder, world = self.world.empty_folder(self.name), self.world
        ends = list(world.ends.items())
        commands = [
            [
                *(sys.executable, str(_READER), world.bootstrap, world.topic),
                *(json.dumps(dict(ends[number::_PROCESSES])), str(folder / f"{number}.parquet")),
            ]
            for number in range(_PROCESSES)
        ]
        seconds = seconds_of(commands, plain_environment(), folder / "said.log")
        found = ds.dataset(sorted(folder.glob("*.parquet"))).count_rows()
        if found != world.records:
            raise click.ClickException(f"{folder}: expected {world.records:,}, found {found:,}")
        return seconds
