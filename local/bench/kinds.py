"""Kinds of record in one topic: pipelines that land one each, beside one that lands all.

    python -m local.bench.kinds [--records 1000000] [--kinds 10] [--rounds 3] [--json FILE]

On a warm Spark server, into new tables. Each pipeline is a whole `sluice run`, one after another;
the turn of several is the sum of theirs, and ends with a check that each table has its kind's rows.
Each of them reads the whole topic, so together they may take so many times as long, at most, as one
that lands all. It runs as often as they, and its figure is the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from local.bench.figures import Shown, compared, taken
from local.bench.harness import Bench, number, to_file
from local.bench.records import PARTITIONS
from local.bench.stage import Stage
from local.bench.turns import Comparison, Size
from local.bench.world import JSON, OurPipeline, World, require_rows
from local.embedded.broker import Broker

_ALL = "all"
# What tells the kind of a flight.
ONLY = {
    "header": "{{header: kind, value: '{kind}'}}",
    "where": '{{where: "try_mod(id, {kinds}) = {kind}"}}',
}
CONTENDERS = {
    _ALL: "one pipeline, which lands all records",
    "header": "a pipeline for each kind, which a header tells",
    "where": "a pipeline for each kind, which a decoded field tells",
}


def turn_of(name: str, world: World, kinds: int) -> Callable[[], float]:
    """A contender. That which lands all runs as often as the others have kinds: the figure is the
    mean, as a single run would be of a moment, and they are of minutes.
    """
    if name == _ALL:
        names = [f"{name}-{each}" for each in range(kinds)]
        return lambda: sum(_landed(world, each, world.records) for each in names) / kinds
    lines = {
        f"{name}-{kind}": f"only: {ONLY[name].format(kind=kind, kinds=kinds)}"
        for kind in range(kinds)
    }
    return lambda: sum(
        _landed(world, each, world.records // kinds, line) for each, line in lines.items()
    )


def _landed(world: World, name: str, rows: int, *lines: str) -> float:
    """The seconds of a run into a new table, which then has so many rows."""
    ours = OurPipeline(world, name, world.stage.server).create(world.topic, JSON, *lines)
    seconds = ours.seconds_of_run()
    require_rows(ours.table, rows)
    return seconds


def tables(size: Size, kinds: int) -> list[Shown]:
    """Seconds, and the ratios to the pipeline that lands all."""
    what = f"{size.records:,} records of {size.bytes_each} bytes, of {kinds} kinds"
    cells = {name: (runs,) for name, runs in CONTENDERS.items()}
    at_most = {size.records: float(kinds)}
    comparisons = [Comparison(each, _ALL, at_most) for each in ONLY]
    head = ("contender", "what it runs")
    return [taken(what, head, cells, size), *compared(what, comparisons, size)]


@click.command(help=__doc__)
@number("--records", 1_000_000)
@number("--kinds", 10)
@number("--rounds", 3)
@to_file
def main(records: int, kinds: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    bench = Bench("local.bench.kinds", file)
    records = max(1, records // (PARTITIONS * kinds)) * PARTITIONS * kinds
    with (
        Broker(bench.folder / "broker") as broker,
        Stage(bench.folder, broker.bootstrap) as stage,
    ):
        world = World(stage, "bench_kinds", records, kind_of=lambda each: str(each % kinds))
        bench.say(f"producing {records:,} records of {kinds} kinds")
        size = Size(records, world.new_topic(world.topic), PARTITIONS)
        turns = {name: turn_of(name, world, kinds) for name in CONTENDERS}
        for _ in size.take(turns, rounds, bench.say, warming=1):
            bench.write([size], tables(size, kinds))
    bench.show(tables(size, kinds))


if __name__ == "__main__":
    main()
