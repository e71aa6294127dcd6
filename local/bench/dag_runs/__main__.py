"""The benchmark of DAG runs: a real Airflow, a warm Spark server, one pipeline and many.

    python -m local.bench.dag_runs [--records 10000] [--rounds 5] [--pipelines 100]

One pipeline with new records each time; then many at once, one of which is broken; then, with the
Spark server gone, a pipeline without news. Each run's rows are counted. Seconds are Airflow's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from deltalake import DeltaTable

from local.bench.dag_runs.runs import Many, Single, many_runs, single_runs
from local.bench.dag_runs.stage import BROKEN, NEWS, Stage, on_stage
from local.bench.dag_runs.watched import silent_port, used_so_far
from local.bench.harness import Bench, number, to_file
from local.bench.world import require_rows
from local.embedded.airflow_client import DagRun

EACH = 1_000
# What they may take at most: the records, the pipelines, and the seconds.
WARM_LIMIT, IDLE_LIMIT, MANY_LIMIT = (10_000, 6.0), 3.0, (100, 120.0)


@click.command(help=__doc__)
@number("--records", WARM_LIMIT[0])
@number("--rounds", 5)
@number("--pipelines", MANY_LIMIT[0])
@to_file
def main(records: int, rounds: int, pipelines: int, file: Path | None) -> None:
    """Play the three parts, and print what they took."""
    bench = Bench("local.bench.dag_runs", file)
    many = [f"many_{number:03d}" for number in range(pipelines)]
    bench.say("starting Kafka, a Spark server and Airflow …")
    with on_stage(bench.folder, [NEWS, *many, BROKEN]) as stage:
        with_news = warm(bench, stage, records, rounds)
        waves = list(together(bench, stage, many))
        singles = [with_news, nothing_new(bench, stage, rounds)]
    shown = [single_runs(singles), *many_runs(waves)]
    bench.write([*singles, *waves], shown)
    bench.show(shown)


def warm(bench: Bench, stage: Stage, records: int, rounds: int) -> Single:
    """One pipeline; its first run makes the table and is not counted."""
    at_most = WARM_LIMIT[1] if records == WARM_LIMIT[0] else None
    found = Single(f"warm, {records:,} new records", at_most)
    for turn in range(rounds + 1):
        stage.produce(NEWS, records)
        run = stage.run(NEWS)
        require_rows(stage.warehouse / NEWS, (turn + 1) * records)
        bench.say(f"{found.what}: {run.seconds:.1f} s{'' if turn else ', not counted'}")
        found.runs.extend([run] if turn else [])
    return found


def together(bench: Bench, stage: Stage, many: Sequence[str]) -> Iterator[Many]:
    """All pipelines at once, and a broken one among them: without tables, then with them."""
    at_most = MANY_LIMIT[1] if len(many) == MANY_LIMIT[0] else None
    parts = (stage.airflow, stage.server, stage.broker)
    for turn, what in enumerate(("first runs", "next runs"), 1):
        for name in (*many, BROKEN):
            stage.produce(name, EACH)
        bench.say(f"{len(many)} pipelines, {what} …")
        before = used_so_far(*parts)
        wave = stage.wave([BROKEN, *many])
        used = {part: seconds - before[part] for part, seconds in used_so_far(*parts).items()}
        failed = [run.dag_id for run in wave.runs if run.state != "success"]
        if failed != [BROKEN]:
            raise click.ClickException(f"expected {BROKEN} alone to fail, found {failed}")
        for name in many:
            require_rows(stage.warehouse / name, turn * EACH)
        bench.say(f"{len(many)} pipelines, {what}: {wave.seconds:.1f} s")
        yield Many(what, at_most, os.cpu_count() or 1, len(many), EACH, wave, used)


def nothing_new(bench: Bench, stage: Stage, rounds: int) -> Single:
    """The server is stopped, and its port counts connections: there is none, and no JVM starts."""
    found = Single("nothing new (no JVM, no call to Spark)", IDLE_LIMIT)
    stage.server.stop()
    table, jvms = stage.warehouse / NEWS, list[int]()
    version = DeltaTable(table).version()

    def look(_: DagRun) -> None:
        jvms.append(stage.jvms())

    with silent_port(stage.server.port) as callers:
        for _ in range(rounds):
            run = stage.run(NEWS, look)
            bench.say(f"{found.what}: {run.seconds:.1f} s")
            found.runs.append(run)
        called = callers()
    skipped = all(run.states["ingest"] == "skipped" for run in found.runs)
    if called or any(jvms) or not skipped or DeltaTable(table).version() != version:
        raise click.ClickException(f"expected nothing: {called} calls, {max(jvms)} JVMs")
    return found


if __name__ == "__main__":
    main()
