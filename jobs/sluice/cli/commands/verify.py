"""`sluice verify`: the proof, against Kafka and the tables."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.output import arguments, print_json
from sluice.cli.reading import shown_reading
from sluice.offsets.notation import parse_duration, parse_moment, parse_range
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange

if TYPE_CHECKING:
    from sluice.operations.verify.verify import ForeignDeletion, Verdict

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

    It proves that what was read is complete, and stored once, in one piece, where it belongs, and
    as often as its receipts say. Takes as long as reading the topic, without a JVM.
    """
    if gaps and not reason.strip():
        raise click.UsageError("--accept-gap needs --reason: it is recorded with the loss.")
    opened, origin = open_named(pipeline), current_user()
    if gaps:
        settled = opened.accept_gaps(gaps, reason, origin.run_id, origin.actor)
        for receipt in settled.receipts:
            click.echo(f"{pipeline}: {receipt.batch}: settled, {receipt.lost} lost", err=as_json)
    with shown_reading(quiet=as_json) as reached:
        verdict = opened.verify(reached, since)
    if as_json:
        print_json(_document(pipeline, verdict))
    else:
        _print(pipeline, verdict)
    sys.exit(1 if verdict.violations else 0)


def _print(pipeline: str, verdict: Verdict) -> None:
    from sluice.operations.verify.checks import INVARIANTS

    click.echo(
        f"{pipeline}: {format_count(verdict.batches, 'batch', 'batches')},"
        f" {format_count(verdict.records, 'row')}, {verdict.quarantined:,} quarantined;"
        f" compared with {format_count(verdict.compared, 'record')} in Kafka"
    )
    if verdict.unread:
        unread = format_count(verdict.unread, "offset")
        click.echo(f"not read yet, so not compared: {unread}; `sluice run {pipeline}` reads them")
    if verdict.unlisted:
        rows = format_count(verdict.unlisted, "row")
        click.echo(f"not compared: {rows} of batches from before the offsets table was recovered")
    if verdict.unsettled:
        click.echo(
            f"without receipt: {', '.join(verdict.unsettled)}. The next run settles them; if they"
            " stay, the log of `settle` says why."
        )
    if verdict.lost:
        records = format_count(verdict.losses, "loss record")
        click.echo(f"lost: {format_count(verdict.lost, 'offset')} in {records}")
    if verdict.skipped:
        skipped = format_count(verdict.skipped, "offset")
        click.echo(f"skipped: {skipped} by resets; `sluice history` says why")
    for each in verdict.deleted:
        click.echo(_told(each))
    broken = {each.invariant for each in verdict.violations}
    for invariant, meaning in INVARIANTS.items():
        holds = "FAILED" if invariant in broken else "holds"
        click.echo(f"  {holds:6}  {invariant:10}  {meaning}")
    for violation in verdict.violations:
        click.echo(str(violation), err=True)


def _told(deleted: ForeignDeletion) -> str:
    by = f"version {deleted.version}, {deleted.operation}"
    if deleted.rows is None:
        return (
            f"rows deleted by others: {by}: how many, and which, is no longer known: its files"
            " were vacuumed, or its log was cleaned up"
        )
    return f"{format_count(deleted.rows, 'row')} deleted by others: {by}"


def _document(pipeline: str, verdict: Verdict) -> dict[str, object]:
    return {
        "pipeline": pipeline,
        "exact": not verdict.violations,
        "batches": verdict.batches,
        "records": verdict.records,
        "not_compared": verdict.unlisted,
        "unread": verdict.unread,
        "quarantined": verdict.quarantined,
        "compared": verdict.compared,
        "unsettled": verdict.unsettled,
        "lost": verdict.lost,
        "skipped": verdict.skipped,
        "deleted_by_others": [
            {"version": each.version, "operation": each.operation, "rows": each.rows}
            for each in verdict.deleted
        ],
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
