"""The benchmark of DAG runs: a real Airflow, a warm Spark server, one pipeline and many.

    python -m local.bench.dag_runs [--records 10000] [--rounds 5] [--pipelines 100]

One pipeline with new records each time; then many at once, one of which is broken; then, with the
Spark server gone, a pipeline without news. Each run's rows are counted. Seconds are Airflow's own.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from local.bench import options
from local.bench.dag_runs.processor_time import difference, used_so_far
from local.bench.dag_runs.report import Many, Single, many_runs, single_runs
from local.bench.dag_runs.silent_port import silent_port
from local.bench.dag_runs.stage import BROKEN, NEWS, Stage, on_stage
from local.bench.figures import WIDTH, circumstances, write
from local.bench.world import empty
from local.embedded.airflow_client import DagRun
from local.embedded.airflow_processes import ROOT

FOLDER = ROOT / "build" / "bench_dag_runs"
EACH = 1_000
# What they may take at most: the records, the pipelines, and the seconds.
WARM_LIMIT, IDLE_LIMIT, MANY_LIMIT = (10_000, 6.0), 3.0, (100, 120.0)


@click.command(help=__doc__)
@click.option("--records", default=WARM_LIMIT[0], show_default=True, type=click.IntRange(min=1))
@options.rounds
@click.option("--pipelines", default=MANY_LIMIT[0], show_default=True, type=click.IntRange(min=1))
@options.figures
def main(records: int, rounds: int, pipelines: int, file: Path | None) -> None:
    """Play the three parts, and print what they took."""
    console = Console(highlight=False, width=WIDTH)
    made = circumstances("local.bench.dag_runs", sys.argv[1:])
    # As an exception, so that what was started ends in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    many = [f"many_{number:03d}" for number in range(pipelines)]
    singles, waves = list[Single](), list[Many]()
    console.print("starting Kafka, a Spark server and Airflow …")
    with on_stage(empty(FOLDER), [NEWS, *many, BROKEN]) as stage:
        singles.append(warm(console, stage, records, rounds))
        waves.extend(together(console, stage, many))
        singles.append(nothing_new(console, stage, rounds))
    shown = [*single_runs(singles), *many_runs(waves)]
    write(file, made, [*singles, *waves], shown)
    for each in shown:
        each.print(console)


def warm(console: Console, stage: Stage, records: int, rounds: int) -> Single:
    """One pipeline; its first run makes the table and is not counted."""
    at_most = WARM_LIMIT[1] if records == WARM_LIMIT[0] else None
    found = Single(f"warm, {records:,} new records", at_most)
    for turn in range(rounds + 1):
        stage.produce(NEWS, records)
        run = stage.run(NEWS)
        stage.require(NEWS, (turn + 1) * records)
        console.print(f"{found.what}: {run.seconds:.1f} s{'' if turn else ', not counted'}")
        found.runs.extend([run] if turn else [])
    return found


def together(console: Console, stage: Stage, many: list[str]) -> Iterator[Many]:
    """All pipelines at once, and a broken one among them: without tables, then with them."""
    at_most = MANY_LIMIT[1] if len(many) == MANY_LIMIT[0] else None
    parts = (stage.airflow, stage.server, stage.broker)
    for turn, what in enumerate(("first runs", "next runs"), 1):
        for name in (*many, BROKEN):
            stage.produce(name, EACH)
        before = used_so_far(*parts)
        with console.status(what) as status:
            wave = stage.wave(
                [BROKEN, *many], lambda done, what=what: status.update(f"{what}: {done} ended")
            )
        used = difference(before, used_so_far(*parts))
        failed = [run.dag_id for run in wave.runs if run.state != "success"]
        if failed != [BROKEN]:
            raise click.ClickException(f"expected {BROKEN} alone to fail, found {failed}")
        for name in many:
            stage.require(name, turn * EACH)
        console.print(f"{len(many)} pipelines, {what}: {wave.seconds:.1f} s")
        yield Many(what, at_most, os.cpu_count() or 1, len(many), EACH, wave, used)


def nothing_new(console: Console, stage: Stage, rounds: int) -> Single:
    """The server is stopped, and its port counts who calls: nobody does, and no JVM starts."""
    found = Single("nothing new (no JVM, no call to Spark)", IDLE_LIMIT)
    stage.server.stop()
    version, jvms = stage.version(NEWS), list[int]()

    def look(_: DagRun) -> None:
        jvms.append(stage.jvms())

    with silent_port(stage.server.port) as callers:
        for _ in range(rounds):
            run = stage.run(NEWS, look)
            console.print(f"{found.what}: {run.seconds:.1f} s")
            found.runs.append(run)
        called = callers()
    skipped = all(run.states["ingest"] == "skipped" for run in found.runs)
    if called or any(jvms) or not skipped or stage.version(NEWS) != version:
        raise click.ClickException(f"expected nothing: {called} calls, {max(jvms)} JVMs")
    return found


if __name__ == "__main__":
    main()
