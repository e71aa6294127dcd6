"""A competition: contenders take turns over one topic, and some are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from local.bench.figures import Shown, compared, taken
from local.bench.harness import Bench, number, to_file
from local.bench.records import PARTITIONS
from local.bench.stage import Stage
from local.bench.turns import Comparison, Size
from local.bench.world import World
from local.embedded.broker import Broker


@dataclass(frozen=True)
class Contender:
    """What is timed, one turn after the other; `runs` says what that is.

    Each turn and what is prepared before the first are functions of the world, the contender's
    name and what is `given`. If none is named, the usual ones compete.
    """

    runs: str
    turn: Callable[..., float]
    given: tuple[Any, ...] = ()
    prepare: Callable[..., None] = lambda *_: None
    usual: bool = True


@dataclass(frozen=True)
class Competition:
    """The contenders by name, and the numbers of records that they usually compete for."""

    module: str
    contenders: Mapping[str, Contender]
    comparisons: Sequence[Comparison]
    sizes: Sequence[int]

    def command(self, text: str | None) -> click.Command:
        """The command line, with this text as its help."""
        names = click.Choice([*self.contenders])

        @click.command(help=text)
        @click.option(
            "--records",
            "sizes",
            default=self.sizes,
            show_default=True,
            multiple=True,
            type=click.IntRange(min=PARTITIONS),
            help="How many; may be given several times.",
        )
        @number("--rounds", 5)
        @to_file
        @click.argument("names", metavar="[CONTENDER]…", nargs=-1, type=names)
        def main(
            sizes: tuple[int, ...], rounds: int, file: Path | None, names: tuple[str, ...]
        ) -> None:
            self.hold(Bench(self.module, file), sizes, rounds, names)

        return main

    def hold(self, bench: Bench, sizes: Sequence[int], rounds: int, names: Sequence[str]) -> None:
        """All rounds of each number of records."""
        measured: list[Size] = []
        with (
            Broker(bench.folder / "broker") as broker,
            Stage(bench.folder, broker.bootstrap) as stage,
        ):
            for records in sizes:
                records -= records % PARTITIONS
                world = World(stage, f"bench_{records}", records)
                bench.say(f"producing {records:,} records")
                size = Size(records, world.new_topic(world.topic), PARTITIONS)
                measured.append(size)
                say = partial(_say, bench, f"{records:,} records")
                for _ in size.take(self._prepared(world, names, say), rounds, say):
                    bench.write(measured, self._tables(measured))
        bench.show(self._tables(measured))

    def _prepared(
        self, world: World, names: Sequence[str], say: Callable[[str], None]
    ) -> dict[str, Callable[[], float]]:
        """Those of these names, or the usual ones, each ready for its first turn."""
        turns: dict[str, Callable[[], float]] = {}
        for name, each in self.contenders.items():
            if name in names or (each.usual and not names):
                say(f"preparing {name}")
                each.prepare(world, name, *each.given)
                turns[name] = partial(each.turn, world, name, *each.given)
        return turns

    def _tables(self, measured: Sequence[Size]) -> list[Shown]:
        return [shown for size in measured for shown in self._of_size(size)]

    def _of_size(self, size: Size) -> Iterator[Shown]:
        records = f"{size.records:,} records"
        what = f"{records} of {size.bytes_each} bytes in {size.partitions} partitions"
        cells = {name: (each.runs,) for name, each in self.contenders.items()}
        yield taken(what, ("contender", "what it runs"), cells, size)
        yield from compared(records, self.comparisons, size)


def _say(bench: Bench, what: str, line: str) -> None:
    bench.say(f"{what}: {line}")
