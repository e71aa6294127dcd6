"""The bench of scale: what a step costs on large tables, beside what it may cost.

    python -m local.bench.scale [--quick] [year|wide|files|many|fleet|page]…

The tables are synthetic, but real, and so is the broker. Each step runs in a process of its own:
seconds without the imports, the peak of its memory with them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from local.bench.figures import Shown
from local.bench.harness import Bench
from local.bench.scale.build import build, build_many
from local.bench.scale.fleet import Taken, commands, page
from local.bench.scale.steps import Cost
from local.bench.scale.world import World, new_topic, produce
from local.embedded.broker import Broker

_PATIENCE_S = 400
_HEAD = ("what", "at most", "s", "MB", "opens", "requests", "")
Line = Sequence[str]


@dataclass(frozen=True)
class Sizes:
    """How large the worlds are."""

    batches: int
    partitions: int
    pipelines: int
    wide: int
    files: int
    rounds: int
    fleets: tuple[int, ...]
    pages: tuple[int, ...]


MANY = (1, 100, 500)
FULL = Sizes(
    52_560, 100, pipelines=1_000, wide=10_000, files=100_000, rounds=5, fleets=MANY, pages=MANY
)
QUICK = Sizes(300, 4, pipelines=5, wide=50, files=50, rounds=1, fleets=(1, 3), pages=(2,))


@dataclass(frozen=True)
class Ground:
    """The broker and the sizes of one run."""

    bootstrap: str
    folder: Path
    sizes: Sizes

    def world(self, name: str, topic: str, partitions: int, batches: int, links: int = 0) -> World:
        """A new world in a warehouse of its own."""
        at = self.folder / name
        world = World(at, self.bootstrap, topic, topic, partitions, batches, links)
        build(world)
        return world

    def step(self, world: World, step: str) -> Cost | None:
        """What a step costs, in a new process; None if it does not end in time."""
        given = json.dumps({**asdict(world), "warehouse": str(world.warehouse)})
        command = [sys.executable, "-m", "local.bench.scale.steps", given, step]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode:
            raise click.ClickException(f"{world.pipeline}: {step} failed:\n{done.stderr[-3000:]}")
        return Cost(**json.loads(done.stdout.splitlines()[-1]))

    def line(self, what: str, world: World, step: str, at_most: str = "", name: str = "") -> Line:
        """The line of one step, which may have another name."""
        return line(f"{what}: {name or step}", at_most, self.step(world, step))


def line(what: str, at_most: str, cost: Cost | None, note: str = "") -> Line:
    """What was measured, how much it may cost, what it cost (None: it did not end in time)."""
    if cost is None:
        return (what, at_most, f"over {_PATIENCE_S}", "", "", "", note)
    figures = (f"{cost.seconds:.2f}", f"{cost.megabytes:.0f}", f"{cost.opens}", f"{cost.requests}")
    return (what, at_most, *figures, note)


def year(ground: Ground) -> Iterator[Line]:
    """A year of ten-minute batches."""
    sizes = ground.sizes
    new_topic(ground.bootstrap, "year", sizes.partitions, sizes.batches + 1)
    world = ground.world("year", "year", sizes.partitions, sizes.batches)
    what = f"{sizes.batches:,} batches of {sizes.partitions}"
    yield ground.line(what, world, "status", "1 s, 300 MB")
    yield ground.line(what, world, "preview", "20 s, 1 GB", "reset preview")
    yield ground.line(what, world, "verify", "20 s, 1 GB", "verify of a day")
    yield ground.line(what, world, "maintain", "20 s, 1 GB", "maintenance")
    yield ground.line(what, world, "plan", "1 s, 300 MB")
    yield ground.line(what, world, "ingest", "", "ingest, without Spark")
    yield ground.line(what, world, "settle")


def wide(ground: Ground) -> Iterator[Line]:
    """Very many partitions, all with news."""
    sizes = ground.sizes
    new_topic(ground.bootstrap, "wide", sizes.wide, 3)
    world = ground.world("wide", "wide", sizes.wide, 2)
    what = f"{sizes.wide:,} partitions"
    yield ground.line(what, world, "status")
    yield ground.line(what, world, "plan", "15 s")
    yield ground.line(what, world, "ingest", "", "ingest, without Spark")
    newest = max((world.warehouse / "wide" / "_delta_log").glob("*.json"))
    note = f"commit of {newest.stat().st_size / 1024:.0f} KB"
    yield line(f"{what}: settle", "15 s", ground.step(world, "settle"), note)


def files(ground: Ground) -> Iterator[Line]:
    """A data table with very many files, beside one with few: a batch, all steps together."""
    sizes, extra = ground.sizes, 0.0
    new_topic(ground.bootstrap, "files", 4, 11)
    many = ground.world("files", "files", 4, 10, sizes.files)
    few = ground.world("few_files", "files", 4, 10)
    for step in ("plan", "ingest", "settle"):
        slow, fast = ground.step(many, step), ground.step(few, step)
        assert slow is not None, step
        assert fast is not None, step
        extra += slow.seconds - fast.seconds
        note = f"{slow.seconds - fast.seconds:+.2f} s"
        yield line(f"{sizes.files:,} files: {step}", "", slow, note)
    yield (f"{sizes.files:,} files: a batch in all", "2 s more", f"{extra:+.2f}")


def many(ground: Ground) -> Iterator[Line]:
    """Very many pipelines: one of them beside the same one alone; then all of them, idle."""
    sizes = ground.sizes
    new_topic(ground.bootstrap, "many", 2, 10)
    among = build_many(ground.folder / "many", ground.bootstrap, "many", 2, sizes.pipelines)
    alone = replace(among[0], warehouse=ground.folder / "alone")
    build(alone)
    idle = ground.step(among[0], "idle")
    each = f"{1000 * idle.seconds / len(among):.0f} ms each" if idle else ""
    yield line(f"{len(among):,} pipelines, nothing new", "100 ms each", idle, each)
    found: dict[str, list[tuple[Cost, Cost]]] = {}
    for turn in range(sizes.rounds):
        produce(ground.bootstrap, "many", 2, 1)
        for step in ("plan", "ingest", "settle", "status"):
            # By turns: what comes second finds warm caches.
            worlds = (among[0], alone) if turn % 2 else (alone, among[0])
            costs = {world.warehouse: ground.step(world, step) for world in worlds}
            one, other = costs[among[0].warehouse], costs[alone.warehouse]
            if one and other:
                found.setdefault(step, []).append((one, other))
    for step, pairs in found.items():
        ratio = statistics.median(one.seconds / other.seconds for one, other in pairs)
        cost = sorted((one for one, _ in pairs), key=lambda cost: cost.seconds)[len(pairs) // 2]
        yield line(f"one of {len(among):,} pipelines: {step}", "1.2", cost, f"ratio {ratio:.2f}")


def _seconds(taken: Iterator[Taken]) -> Iterator[Line]:
    return ((what, "", f"{seconds:.2f}") for what, seconds in taken)


PARTS: Mapping[str, Callable[[Ground], Iterator[Line]]] = {
    "year": year,
    "wide": wide,
    "files": files,
    "many": many,
    "fleet": lambda on: _seconds(commands(on.folder / "fleet", on.bootstrap, on.sizes.fleets)),
    "page": lambda on: _seconds(
        page(on.folder / "page", on.bootstrap, on.sizes.pages, on.sizes.partitions)
    ),
}


@click.command(help=__doc__)
@click.option("--quick", is_flag=True, help="Small tables, to see that it works.")
@click.argument("parts", nargs=-1, type=click.Choice([*PARTS]))
def main(quick: bool, parts: tuple[str, ...]) -> None:
    """Build the tables, take the steps, and print what they cost."""
    bench, lines = Bench("local.bench.scale"), list[Line]()
    with Broker(bench.folder / "broker", heap="2g") as broker:
        ground = Ground(broker.bootstrap, bench.folder, QUICK if quick else FULL)
        for name in parts or PARTS:
            for each in PARTS[name](ground):
                bench.say("  ".join(each))
                lines.append(each)
    bench.show([Shown("", [_HEAD, *lines])])


if __name__ == "__main__":
    main()
