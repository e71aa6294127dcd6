"""`sluice verify`: the proof, against Kafka and the tables."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import Progress, TaskID

from sluice.cli.opening import opened
from sluice.cli.output import arguments, print_json
from sluice.planning.ranges import OffsetRange
from sluice.proof.checks import INVARIANTS
from sluice.proof.verify import Verdict
from sluice.proof.verify import verify as compare


@click.command()
@arguments
def verify(pipeline: str, as_json: bool) -> None:
    """Compare the tables of PIPELINE with Kafka, record by record. Exit code 1 if they differ."""
    parts = opened(pipeline).parts
    with Progress(console=Console(stderr=True), transient=True) as progress:
        tasks: dict[OffsetRange, TaskID] = {}

        def reached(wanted: OffsetRange, offset: int) -> None:
            if wanted not in tasks:
                tasks[wanted] = progress.add_task(str(wanted), total=wanted.span)
            progress.update(tasks[wanted], completed=offset - wanted.start)

        verdict = compare(parts, reached)
    if as_json:
        print_json(_document(pipeline, verdict))
    else:
        _print(pipeline, verdict)
    sys.exit(1 if verdict.violations else 0)


def _print(pipeline: str, verdict: Verdict) -> None:
    click.echo(
        f"{pipeline}: {verdict.batches} batches, {verdict.records:,} rows,"
        f" {verdict.quarantined:,} quarantined; compared with {verdict.compared:,} records in Kafka"
    )
    if verdict.unsettled:
        click.echo(f"without receipt: {', '.join(verdict.unsettled)}. The next run settles them.")
    broken = {each.invariant for each in verdict.violations}
    for invariant in INVARIANTS:
        click.echo(f"  {'FAILED' if invariant in broken else 'holds ':6}  {invariant}")
    for violation in verdict.violations:
        click.echo(str(violation), err=True)


def _document(pipeline: str, verdict: Verdict) -> dict[str, object]:
    return {
        "pipeline": pipeline,
        "exact": not verdict.violations,
        "batches": verdict.batches,
        "records": verdict.records,
        "quarantined": verdict.quarantined,
        "compared": verdict.compared,
        "unsettled": verdict.unsettled,
        "violations": [
            {
                "invariant": each.invariant,
                "partition": str(each.partition),
                "expected": each.expected,
                "found": each.found,
            }
            for each in verdict.violations
        ],
    }
