"""A pipeline under random faults for some minutes; at the end everything must be exact.

    python -m tests.soak [--minutes 10] [--seed 7] [--rate 200]

The seed decides which faults strike when, and what is produced; how they meet the pipeline depends
on the machine too. Exit codes: 0 exact, 1 something was found, 130 interrupted.
"""

from __future__ import annotations

import random
import shutil
import signal
import sys
from pathlib import Path

import click
from rich.console import Console

from local.embedded.airflow_processes import ROOT
from tests.soak.report import evidence, found, report
from tests.soak.soak import Plan, Soak

FOLDER = ROOT / "build" / "soak"


@click.command(help=__doc__)
@click.option("--minutes", default=10.0, show_default=True, type=click.FloatRange(min=0.5))
@click.option("--seed", type=int, help="Without it, a new one, which is printed.")
@click.option("--rate", default=200, show_default=True, help="Records a second.")
@click.option("--folder", default=FOLDER, type=click.Path(path_type=Path), help="For evidence.")
def main(minutes: float, seed: int | None, rate: int, folder: Path) -> None:
    console = Console(highlight=False)
    plan = Plan(random.randrange(10**6) if seed is None else seed, minutes, rate)
    console.print(f"seed {plan.seed}: {minutes:g} minutes, {rate} records a second")
    if folder == FOLDER:
        shutil.rmtree(folder, ignore_errors=True)
    elif folder.exists() and any(folder.iterdir()):
        raise click.BadParameter(
            f"{folder}: expected an empty folder, or none", param_hint="--folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    soak = Soak(plan, folder, console.print)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        scene, reader, judgement = soak.go()
    except KeyboardInterrupt:
        console.print(f"interrupted; seed {plan.seed}")
        evidence(console, folder)
        sys.exit(128 + signal.SIGINT)
    report(console, plan, scene, reader, judgement)
    findings = [*soak.diary.findings, *judgement.findings]
    if findings:
        found(console, plan, folder, findings)
        sys.exit(1)
    shutil.rmtree(folder)
    console.print("[green]✓[/] exact")


if __name__ == "__main__":
    main()
