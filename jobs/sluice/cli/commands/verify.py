"""`sluice verify`: the proof, against Kafka and the tables."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.output import arguments, print_json
from sluice.cli.reading import shown_reading
from sluice.cli.views.verdicts import verdict_document, verdict_lines
from sluice.offsets.notation import parse_duration, parse_moment, parse_range
from sluice.offsets.ranges import OffsetRange

GapRanges = tuple[OffsetRange, ...]


def _ranges(context: click.Context, option: click.Parameter, written: tuple[str, ...]) -> GapRanges:
    try:
        return tuple(map(parse_range, written))
    except ValueError as problem:
        raise click.BadParameter(str(problem), context, option) from None


def _since(context: click.Context, option: click.Parameter, written: str | None) -> datetime | None:
    if written is None:
        return None
    try:
        if written.startswith("P"):
            return datetime.now(UTC) - parse_duration(written)
        return parse_moment(written)
    except (ValueError, OverflowError) as problem:
        raise click.BadParameter(str(problem), context, option) from None


@click.command()
@click.option(
    "--since",
    callback=_since,
    metavar="MOMENT|DURATION",
    help="Only what was committed since then, such as 2026-11-01T06:00:00Z, or PT24H ago.",
)
@click.option(
    "--accept-gap",
    "gaps",
    multiple=True,
    callback=_ranges,
    metavar="'TOPIC[N] [START, END)'",
    help="Record this unexplained gap as lost. May be repeated.",
)
@click.option("--reason", default="", help="Why, for the record. Needed with --accept-gap.")
@arguments
def verify(
    pipeline: str, since: datetime | None, gaps: GapRanges, reason: str, as_json: bool
) -> None:
    """Compare the tables of PIPELINE with Kafka, record by record. Exit code 1 if they differ.

    Proves that every record that was read is stored, once and in the right place, and that the
    receipts count the same rows. Takes as long as reading the topic. Starts no JVM.

    A state table is compared with the data table, key by key: this starts Spark, for pipelines with
    `state` alone.
    """
    if gaps and not reason.strip():
        raise click.UsageError("--accept-gap needs --reason: it is recorded with the loss.")
    opened, origin = open_named(pipeline), current_user()
    if gaps:
        from sluice.operations.verify.accept_gaps import accept_gaps

        by = opened.origin(origin.run_id, origin.actor)
        for receipt in accept_gaps(opened.resources, gaps, reason, by):
            click.echo(f"{pipeline}: {receipt.batch}: settled, {receipt.lost} lost", err=as_json)
    if opened.spec.state is not None:
        told = "after Kafka's records, the state table is compared, which starts Spark"
        click.echo(f"{pipeline}: {told}", err=True)
    with shown_reading(quiet=as_json) as reached:
        verdict = opened.verify(reached, since)
    if as_json:
        print_json(verdict_document(pipeline, verdict))
    else:
        for line in verdict_lines(pipeline, verdict):
            click.echo(line)
        of_state = [verdict.state.problem] if verdict.state and verdict.state.problem else []
        for problem in (*verdict.violations, *verdict.advice, *of_state):
            click.echo(str(problem), err=True)
    sys.exit(0 if verdict.is_exact else 1)
