"""The benchmark: Sluice beside plain Spark, availableNow and the raw limit, turn by turn.

    python -m local.bench [--records 2000000] [--records 10000] [--rounds 5] [CONTENDER]…

Every turn of a contender is a whole process, and ends with a check that its table has each record
once more than before. Only ratios count: seconds depend on the machine and its load.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import click
from rich.console import Console

from local.bench.comparisons import FEW, MANY
from local.bench.contender import Contender
from local.bench.contenders import ENTRIES, USUAL, WARM, contenders
from local.bench.figures import WIDTH, circumstances, write
from local.bench.report import Size, tables
from local.bench.turns import in_order
from local.bench.world import PARTITIONS, World, empty
from local.embedded.airflow_processes import ROOT
from local.embedded.broker import Broker
from local.embedded.spark_server import SparkServer

FOLDER = ROOT / "build" / "bench"


@click.command(help=__doc__)
@click.option(
    "--records",
    "sizes",
    default=[MANY, FEW],
    show_default=True,
    multiple=True,
    type=click.IntRange(min=PARTITIONS),
    help="How many; may be given several times.",
)
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1))
@click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures too."
)
@click.argument("names", metavar="[CONTENDER]…", nargs=-1, type=click.Choice(list(ENTRIES)))
def main(sizes: tuple[int, ...], rounds: int, file: Path | None, names: tuple[str, ...]) -> None:
    """Run the rounds of each size, and print what they took."""
    console = Console(highlight=False, width=WIDTH)
    chosen = list(names or USUAL)
    made, measured = circumstances("local.bench", sys.argv[1:]), list[Size]()
    # As an exception, so that what was started ends in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    server = SparkServer(empty(FOLDER) / "spark")
    with Broker(FOLDER / "broker") as broker, ExitStack() as at_the_end:
        if WARM in chosen:
            at_the_end.callback(server.stop)
            console.print("starting a Spark server, and warming it")
            server.start().warm(broker.bootstrap)
        for records in sizes:
            world = World(broker.bootstrap, FOLDER, records - records % PARTITIONS)
            console.print(f"producing {world.records:,} records")
            size = Size(world.records, world.fill(), PARTITIONS)
            measured.append(size)
            for _ in compete(console, contenders(chosen, world, server), size, rounds):
                # What was measured is not lost when a later round fails.
                write(file, made, measured, chain.from_iterable(map(tables, measured)))
    for shown in chain.from_iterable(map(tables, measured)):
        shown.print(console)


def compete(
    console: Console, competing: list[Contender], size: Size, rounds: int
) -> Iterator[None]:
    """All turns of one size; yields after each round."""
    what = f"{size.records:,} records"
    for each in competing:
        console.print(f"{what}: preparing {each.name}")
        each.prepare()
    for turn in range(rounds):
        for each in in_order(competing, turn):
            seconds = each.seconds()
            size.turns.add(each.name, seconds)
            console.print(f"{what}, round {turn + 1} of {rounds}: {each.name} {seconds:.1f} s")
        yield


if __name__ == "__main__":
    main()
