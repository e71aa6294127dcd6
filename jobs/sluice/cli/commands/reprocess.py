"""`sluice reprocess`: read offset ranges, whole batches or a time window again."""

from __future__ import annotations

import click

from sluice.cli.options import (
    bring_back_option,
    dry_run_option,
    from_option,
    refusing_usage,
    to_option,
)
from sluice.cli.output import arguments
from sluice.cli.runner import run_selection


@click.command(short_help="Read offsets of PIPELINE again, and replace their rows.")
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="'TOPIC[N] [START, END)'",
    help="Offsets, such as 'flights[0] [120, 180)': END is not read. Repeatable.",
)
@click.option(
    "--batch",
    "batches",
    multiple=True,
    metavar="BATCH",
    help="A batch, such as forward-1-42, as `sluice history` names it. Repeatable.",
)
@from_option()
@to_option()
@dry_run_option
@bring_back_option
@arguments
def reprocess(
    pipeline: str,
    ranges: tuple[str, ...],
    batches: tuple[str, ...],
    start: str | None,
    end: str | None,
    dry_run: bool,
    bring_back_erased: bool,
    as_json: bool,
) -> None:
    """Read offsets of PIPELINE again, for example with a corrected schema; replace their rows.

    Say which: with --range, with --batch, or with --from and --to. Only offsets below the cursor
    that Kafka still holds. The cursor does not move. Safe to stop and to repeat at any moment.
    """
    from sluice.operations.backfill.selection import parse_selection

    with refusing_usage():
        wanted = parse_selection(start, end, ranges, batches)
    run_selection(pipeline, wanted, dry_run, bring_back_erased, as_json)
