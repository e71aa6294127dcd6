"""One hot partition: the same records in one partition and in four, by `sluice run`.

    python -m local.bench.hot_partition [--records 2000000] [--rounds 5] [--json FILE] [CONTENDER]…

Cold, with a Spark of its own, and on a warm Spark server. `one-task-cold` reads the one partition
as Spark does by itself, in one task. Every turn is a whole process, and ends with a check that its
table has each record once more than before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from local.bench.contenders import cold_run, prepare_warm_run, warm_run
from local.bench.figures import Shown, compared, taken
from local.bench.harness import Bench, number, to_file
from local.bench.records import PARTITIONS
from local.bench.stage import Place, Stage
from local.bench.turns import Comparison, Size
from local.bench.world import World
from local.embedded.broker import Broker

_AT_MOST = 1.15
_ONE_TASK = 'spark: {spark.default.parallelism: "1"}'
CONTENDERS = {
    "four-cold": "four partitions; a Spark of its own",
    "one-cold": "one partition; a Spark of its own",
    "one-task-cold": "one partition, and one task reads it; a Spark of its own",
    "four-warm": "four partitions; a warm Spark server",
    "one-warm": "one partition; a warm Spark server",
}


def _server(on: Stage) -> Place:
    return on.server


def turn_of(name: str, worlds: dict[str, World]) -> Callable[[], float]:
    """A contender, ready for its first turn."""
    world = worlds[name.partition("-")[0]]
    if name.endswith("-warm"):
        prepare_warm_run(world, name, _server)
        return partial(warm_run, world, name, _server)
    return partial(cold_run, world, name, lambda _: Place(), *[_ONE_TASK] * ("task" in name))


def tables(size: Size) -> list[Shown]:
    """Seconds, and the ratios to four partitions."""
    what = f"{size.records:,} records of {size.bytes_each} bytes"
    cells = {name: (runs,) for name, runs in CONTENDERS.items()}
    at_most = {size.records: _AT_MOST}
    comparisons = [
        Comparison("one-cold", "four-cold", at_most),
        Comparison("one-task-cold", "four-cold"),
        Comparison("one-warm", "four-warm", at_most),
    ]
    head = ("contender", "what it runs")
    return [taken(what, head, cells, size), *compared(what, comparisons, size)]


@click.command(help=__doc__)
@click.argument("names", metavar="[CONTENDER]…", nargs=-1, type=click.Choice([*CONTENDERS]))
@number("--records", 2_000_000, least=PARTITIONS)
@number("--rounds", 5)
@to_file
def main(names: Sequence[str], records: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    bench = Bench("local.bench.hot_partition", file)
    records -= records % PARTITIONS
    with (
        Broker(bench.folder / "broker") as broker,
        Stage(bench.folder, broker.bootstrap) as stage,
    ):
        worlds = {
            many: World(stage, f"bench_{many}", records, partitions=partitions)
            for many, partitions in (("one", 1), ("four", PARTITIONS))
        }
        bench.say(f"producing {records:,} records, twice")
        sizes = [world.new_topic(world.topic) for world in worlds.values()]
        size = Size(records, sizes[0], PARTITIONS)
        turns = {
            name: turn_of(name, worlds) for name in CONTENDERS if name in (names or CONTENDERS)
        }
        for _ in size.take(turns, rounds, bench.say):
            bench.write([size], tables(size))
    bench.show(tables(size))


if __name__ == "__main__":
    main()
