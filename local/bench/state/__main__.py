"""The bench of state tables: Sluice's beside the MERGE that people write by hand.

    python -m local.bench.state [--keys 1000000] [--changes 10000] [--changes 1000000]
        [--rounds 3] [--uncounted 3] [--growth] [--json FILE] [CONTENDER]…

All read the same changes from Kafka: of keys that are there, drawn uniformly or skewed, a tenth of
new keys, and a twentieth are deletions. All keys are loaded before, which is not measured; nor are
the first turns, in which what is warm still compiles much of what it runs. After every turn the
state must have one row for each key, the newest one.

Sluice lands every record in its log, and then refreshes the state. So like is compared with like
where the job by hand appends to a log too (`log-merge`), and only there is a limit. A MERGE alone
(`merge`) keeps no log: its ratios are shown beside. `warm` is a whole `sluice run` on a warm Spark
Connect server, but by hand a session that is kept: no start is in its seconds. With `--growth`, ten
times as many keys are loaded as well; the fewest changes may then take twice as long, if warm.

Hudi Streamer and Iceberg are not measured: neither has a release for Spark 4.2. In Maven, Iceberg's
newest is iceberg-spark-runtime-4.1_2.13 1.12.0; Hudi has no bundle for Spark 4.0, 4.1 or 4.2.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from local.bench.harness import Bench, number, to_file
from local.bench.records import PARTITIONS
from local.bench.stage import Stage
from local.bench.state.feed import Feed, Load
from local.bench.state.measured import TIMES, Measured, tables
from local.bench.state.rewritten import Rewritten
from local.bench.state.stage import CONTENDERS, WARM, contender
from local.bench.turns import Size
from local.bench.world import World
from local.embedded.broker import Broker


def loads(keys: int, changes: Sequence[int], growth: bool) -> list[Load]:
    """What is measured, in this order."""
    usual = [Load(keys, each, skewed) for each in changes for skewed in (False, True)]
    return [*usual, *[Load(TIMES * keys, min(changes))] * growth]


def measure(
    bench: Bench,
    measured: list[Measured],
    load: Load,
    stage: Stage,
    names: Sequence[str],
    rounds: int,
    uncounted: int,
) -> None:
    """All rounds with one load, after some that do not count."""
    at = len(measured)
    world = World(stage, f"bench_state_{at}", at)
    feed = Feed(stage.bootstrap, world.topic, load)
    feed.create()
    now = Measured(load, Size(load.changes, 0, PARTITIONS))
    with ExitStack() as kept:
        each = {name: contender(name, world, feed, stage, kept) for name in names}
        for name, one in each.items():
            bench.say(f"{load}: {name} loads all keys")
            one.prepare()
        for number in range(uncounted):
            bench.say(f"{load}: turn {number + 1} of {uncounted} that are not counted")
            for one in each.values():
                one.turn()
        for one in each.values():
            one.rewritten = Rewritten()
        measured.append(now)
        turns = {name: one.turn for name, one in each.items()}
        for _ in now.size.take(turns, rounds, lambda said: bench.say(f"{load}: {said}")):
            now.bytes_each = {name: one.rewritten.each for name, one in each.items()}
            bench.write(measured, tables(measured))


@click.command(help=__doc__)
@click.argument("names", metavar="[CONTENDER]…", nargs=-1, type=click.Choice([*CONTENDERS]))
@number("--keys", 1_000_000)
@click.option(
    "--changes",
    default=(10_000, 1_000_000),
    show_default=True,
    multiple=True,
    type=click.IntRange(min=1),
    help="How many a turn; may be given several times.",
)
@number("--rounds", 3)
@click.option("--uncounted", default=3, show_default=True, type=click.IntRange(min=0))
@click.option("--growth", is_flag=True, help="Also with ten times as many keys.")
@to_file
def main(
    names: Sequence[str],
    keys: int,
    changes: Sequence[int],
    rounds: int,
    uncounted: int,
    growth: bool,
    file: Path | None,
) -> None:
    """Measure, and print."""
    # As the server of the stage has: with Spark's default of 1 GB, the job by hand fails.
    os.environ["SPARK_DRIVER_MEMORY"] = "2g"
    bench = Bench("local.bench.state", file)
    measured: list[Measured] = []
    names = [name for name in CONTENDERS if name in (names or CONTENDERS)]
    with (
        Broker(bench.folder / "broker") as broker,
        Stage(bench.folder, broker.bootstrap) as stage,
    ):
        for load in loads(keys, changes, growth):
            those = [name for name in names if load.keys == keys or name.endswith(WARM)]
            measure(bench, measured, load, stage, those, rounds, uncounted)
    bench.show(tables(measured))


if __name__ == "__main__":
    main()
