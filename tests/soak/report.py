"""The summary of a soak."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.soak.judgement import Judgement
from tests.soak.reader import Reader
from tests.soak.scene import Scene
from tests.soak.soak import Plan


def report(
    console: Console, plan: Plan, scene: Scene, reader: Reader, judgement: Judgement
) -> None:
    """Print what happened, fault by fault, and what there was to judge."""
    faults = Table("fault", "struck", "nothing to strike at", title="Faults")
    for kind in sorted(scene.diary.injected.keys() | scene.diary.missed.keys()):
        counts = scene.diary.injected[kind], scene.diary.missed[kind]
        faults.add_row(kind, *(str(count or "") for count in counts))
    console.print(faults)
    figures = Table("figure", "", title="Soak", show_header=False)
    for name, value in _figures(plan, scene, reader, judgement):
        figures.add_row(name, str(value))
    console.print(figures)


def _figures(
    plan: Plan, scene: Scene, reader: Reader, judgement: Judgement
) -> Iterator[tuple[str, object]]:
    yield "seed", plan.seed
    yield "minutes", f"{plan.minutes:g}, and {scene.diary.now / 60 - plan.minutes:.1f} to heal"
    yield "faults", scene.diary.injected.total()
    runs = scene.attempts.ends()
    ends = ", ".join(f"{count} {how}" for how, count in runs.most_common())
    yield "runs", f"{runs.total()}: {ends}"
    yield "failpoints reached", scene.attempts.stopped()
    yield "batches committed", f"{judgement.batches:,}"
    yield "records", f"{judgement.records:,}, of them malformed {judgement.malformed:,}"
    yield "resets", judgement.generations - 1
    yield "versions of the data table", f"{judgement.versions:,}"
    yield "versions the reader saw", f"{len(reader.sightings):,}"


def found(console: Console, plan: Plan, folder: Path, findings: list[str]) -> None:
    """Print what is wrong, how to repeat it, and what there is to look at."""
    for finding in findings:
        console.print(f"[red]✗[/] {escape(finding)}")
    console.print(
        f"{len(findings)} findings. Again: make soak SEED={plan.seed} MINUTES={plan.minutes:g}"
    )
    evidence(console, folder)


def evidence(console: Console, folder: Path) -> None:
    """Say where to look."""
    console.print(
        f"Kept in {folder}: diary.txt (what happened when), pipeline/*.stderr (what each process"
        " said), pipeline/warehouse (the tables), broker (Kafka's data, broker.log)"
    )
