"""The command of a bench: its contenders compete, turn by turn, and it prints what they took."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Generic

import click
from rich.console import Console

from local.bench import options
from local.bench.competition import Competition, OnStage
from local.bench.contender import Contender
from local.bench.figures import WIDTH, Shown, circumstances, write
from local.bench.report import Size, tables
from local.bench.turns import in_order
from local.bench.world import PARTITIONS, World, empty
from local.embedded.airflow_processes import ROOT
from local.embedded.broker import Broker


def command(competition: Competition[OnStage], text: str | None) -> click.Command:
    """The command line, with this text as its help."""

    @click.command(help=text)
    @options.records(competition.sizes)
    @options.rounds
    @options.figures
    @click.argument(
        "names",
        metavar="[CONTENDER]…",
        nargs=-1,
        type=click.Choice(list(competition.entries)),
    )
    def main(
        sizes: tuple[int, ...], rounds: int, file: Path | None, names: tuple[str, ...]
    ) -> None:
        Bench(competition, names or competition.usual, rounds, file).run(sizes)

    return main


@dataclass(frozen=True)
class Bench(Generic[OnStage]):
    """What the command line asks for."""

    competition: Competition[OnStage]
    names: Sequence[str]
    rounds: int
    file: Path | None
    console: Console = field(default_factory=lambda: Console(highlight=False, width=WIDTH))

    def run(self, sizes: Sequence[int]) -> None:
        """All rounds of each number of records."""
        module = self.competition.module
        made, measured = circumstances(module, sys.argv[1:]), list[Size]()
        # As an exception, so that what was started ends in order.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        folder = empty(ROOT / "build" / module.removeprefix("local.").replace(".", "_"))
        with (
            Broker(folder / "broker") as broker,
            self.competition.stage(folder, broker.bootstrap) as stage,
        ):
            for records in sizes:
                world = World(broker.bootstrap, folder, records - records % PARTITIONS)
                self.console.print(f"producing {world.records:,} records")
                size = Size(world.records, world.fill(), PARTITIONS)
                measured.append(size)
                self.console.print("starting the servers that are needed, unless they run")
                competing = self.competition.contenders(self.names, world, stage)
                for _ in self._compete(competing, size):
                    # What was measured is not lost when a later round fails.
                    write(self.file, made, measured, self._tables(measured))
        for shown in self._tables(measured):
            shown.print(self.console)

    def _compete(self, competing: Sequence[Contender], size: Size) -> Iterator[None]:
        """All turns of one size; yields after each round."""
        what = f"{size.records:,} records"
        for each in competing:
            self.console.print(f"{what}: preparing {each.name}")
            each.prepare()
        for turn in range(self.rounds):
            for each in in_order(competing, turn):
                seconds = each.seconds()
                size.turns.add(each.name, seconds)
                now = f"{what}, round {turn + 1} of {self.rounds}"
                self.console.print(f"{now}: {each.name} {seconds:.1f} s")
            yield

    def _tables(self, measured: Sequence[Size]) -> Iterator[Shown]:
        return chain.from_iterable(tables(size, self.competition) for size in measured)
