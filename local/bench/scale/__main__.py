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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from local.bench.scale.build import build
from local.bench.scale.fleet import Seconds, fleet
from local.bench.scale.page import page
from local.bench.scale.steps import Cost
from local.bench.scale.world import World, new_topic, produce
from local.bench.world import empty
from local.embedded.airflow_processes import ROOT
from local.embedded.broker import Broker

FOLDER = ROOT / "build" / "bench_scale"
_PATIENCE_S = 400
_WIDTH = 120


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
    52_560,
    100,
    pipelines=1_000,
    wide=10_000,
    files=100_000,
    rounds=5,
    fleets=MANY,
    pages=MANY,
)
QUICK = Sizes(300, 4, pipelines=5, wide=50, files=50, rounds=1, fleets=(1, 3), pages=(2,))


@dataclass(frozen=True)
class Line:
    """A line of the table: what was measured, how much it may cost, what it cost.

    The cost is None of a step that did not end in time.
    """

    what: str
    allowed: str
    cost: Cost | None
    note: str = ""

    @property
    def cells(self) -> list[str]:
        """The cells of the line."""
        if self.cost is None:
            return [self.what, self.allowed, f"over {_PATIENCE_S}", "", "", "", self.note]
        cost = self.cost
        figures = [f"{cost.seconds:.2f}", f"{cost.megabytes:.0f}"]
        return [self.what, self.allowed, *figures, str(cost.opens), str(cost.requests), self.note]


@dataclass(frozen=True)
class Difference:
    """A line that compares the steps of a batch, all together, with those on a small table."""

    what: str
    allowed: str
    seconds: float

    @property
    def cells(self) -> list[str]:
        """The cells of the line."""
        return [self.what, self.allowed, f"{self.seconds:+.2f}", "", "", "", ""]


@dataclass(frozen=True)
class Bench:
    """The broker and the sizes of one run."""

    bootstrap: str
    folder: Path
    sizes: Sizes

    def world(self, name: str, topic: str, partitions: int, batches: int, links: int = 0) -> World:
        """A world in a warehouse of its own; its topic has news for one more batch."""
        return World(self.folder / name, self.bootstrap, topic, topic, partitions, batches, links)

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


def year(bench: Bench) -> Iterator[Line]:
    """A year of ten-minute batches."""
    sizes = bench.sizes
    new_topic(bench.bootstrap, "year", sizes.partitions, sizes.batches + 1)
    world = bench.world("year", "year", sizes.partitions, sizes.batches)
    build(world)
    what = f"{sizes.batches:,} batches of {sizes.partitions}"
    yield Line(f"{what}: status", "1 s, 300 MB", bench.step(world, "status"))
    yield Line(f"{what}: reset preview", "20 s, 1 GB", bench.step(world, "preview"))
    yield Line(f"{what}: verify of a day", "20 s, 1 GB", bench.step(world, "verify"))
    yield Line(f"{what}: maintenance", "20 s, 1 GB", bench.step(world, "maintain"))
    yield Line(f"{what}: plan", "1 s, 300 MB", bench.step(world, "plan"))
    yield from _landed(bench, world, what)


def _landed(bench: Bench, world: World, what: str) -> Iterator[Line]:
    yield Line(f"{what}: ingest, without Spark", "", bench.step(world, "ingest"))
    yield Line(f"{what}: settle", "", bench.step(world, "settle"))


def wide(bench: Bench) -> Iterator[Line]:
    """Very many partitions, all with news."""
    sizes = bench.sizes
    new_topic(bench.bootstrap, "wide", sizes.wide, 3)
    world = bench.world("wide", "wide", sizes.wide, 2)
    build(world)
    what = f"{sizes.wide:,} partitions"
    yield Line(f"{what}: status", "", bench.step(world, "status"))
    yield Line(f"{what}: plan", "15 s", bench.step(world, "plan"))
    yield Line(f"{what}: ingest, without Spark", "", bench.step(world, "ingest"))
    newest = max((world.warehouse / "wide" / "_delta_log").glob("*.json"))
    note = f"commit of {newest.stat().st_size / 1024:.0f} KB"
    yield Line(f"{what}: settle", "15 s", bench.step(world, "settle"), note)


def files(bench: Bench) -> Iterator[Line | Difference]:
    """A data table with very many files, beside one with few."""
    sizes, extra = bench.sizes, 0.0
    new_topic(bench.bootstrap, "files", 4, 11)
    many = bench.world("files", "files", 4, 10, sizes.files)
    few = bench.world("few_files", "files", 4, 10)
    for world in (many, few):
        build(world)
    for step in ("plan", "ingest", "settle"):
        slow, fast = bench.step(many, step), bench.step(few, step)
        assert slow is not None, step
        assert fast is not None, step
        extra += slow.seconds - fast.seconds
        note = f"{slow.seconds - fast.seconds:+.2f} s"
        yield Line(f"{sizes.files:,} files: {step}", "", slow, note)
    yield Difference(f"{sizes.files:,} files: a batch in all", "2 s more", extra)


def many(bench: Bench) -> Iterator[Line]:
    """Very many pipelines: one of them beside the same one alone; then all of them, idle."""
    sizes = bench.sizes
    new_topic(bench.bootstrap, "many", 2, 10)
    among = [
        World(bench.folder / "many", bench.bootstrap, f"p{number:04d}", "many", 2, 10)
        for number in range(sizes.pipelines)
    ]
    alone = World(bench.folder / "alone", bench.bootstrap, "p0000", "many", 2, 10)
    for world in (*among, alone):
        build(world)
    idle = bench.step(among[0], "idle")
    each = f"{1000 * idle.seconds / len(among):.0f} ms each" if idle else ""
    yield Line(f"{len(among):,} pipelines, nothing new", "100 ms each", idle, each)
    found: dict[str, list[tuple[Cost, Cost]]] = {}
    for turn in range(sizes.rounds):
        produce(bench.bootstrap, "many", 2, 1)
        for step in ("plan", "ingest", "settle", "status"):
            # By turns: what comes second finds warm caches.
            worlds = (among[0], alone) if turn % 2 else (alone, among[0])
            costs = {world.warehouse: bench.step(world, step) for world in worlds}
            one, other = costs[among[0].warehouse], costs[alone.warehouse]
            if one and other:
                found.setdefault(step, []).append((one, other))
    for step, pairs in found.items():
        ratio = statistics.median(one.seconds / other.seconds for one, other in pairs)
        cost = sorted((one for one, _ in pairs), key=lambda cost: cost.seconds)[len(pairs) // 2]
        yield Line(f"one of {len(among):,} pipelines: {step}", "1.2", cost, f"ratio {ratio:.2f}")


PARTS: Mapping[str, Callable[[Bench], Iterator[Line | Difference | Seconds]]] = {
    "year": year,
    "wide": wide,
    "files": files,
    "many": many,
    "fleet": lambda bench: fleet(bench.folder / "fleet", bench.bootstrap, bench.sizes.fleets),
    "page": lambda bench: page(
        bench.folder / "page", bench.bootstrap, bench.sizes.pages, bench.sizes.partitions
    ),
}


@click.command(help=__doc__)
@click.option("--quick", is_flag=True, help="Small tables, to see that it works.")
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
def main(quick: bool, parts: tuple[str, ...]) -> None:
    """Build the tables, take the steps, and print what they cost."""
    console = Console(highlight=False, width=_WIDTH)
    table = Table("what", "at most", "s", "MB", "opens", "requests", "")
    with Broker(empty(FOLDER) / "broker", heap="2g") as broker:
        bench = Bench(broker.bootstrap, FOLDER, QUICK if quick else FULL)
        for name in parts or PARTS:
            for line in PARTS[name](bench):
                console.print("  ".join(line.cells), style="dim")
                table.add_row(*line.cells)
    console.print(table)


if __name__ == "__main__":
    main()
