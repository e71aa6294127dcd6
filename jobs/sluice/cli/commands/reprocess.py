"""`sluice reprocess`: read offset ranges, whole batches or a time window again."""

from __future__ import annotations

import click

from sluice.cli.options import bring_back_option, dry_run_option, refusing_usage
from sluice.cli.output import arguments
from sluice.cli.runner import read_again


@click.command(short_help="Read offsets of PIPELINE again, and replace their rows.")
@click.option(
    "--range", "ranges", multiple=True, help="Offsets, such as 'flights[0] [120, 180)'. Repeatable."
)
@click.option(
    "--batch", "batches", multiple=True, help="A batch, such as forward-1-42. Repeatable."
)
@click.option("--from", "start", help="Records from this moment on: 2026-11-01T06Z.")
@click.option("--to", "end", help="… and before this one.")
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

    Only offsets below the cursor that Kafka still holds. The cursor does not move.
    """
    from sluice.operations.backfill.selection import parse_selection

    with refusing_usage():
        wanted = parse_selection(start, end, ranges, batches)
    read_again(pipeline, wanted, dry_run, bring_back_erased, as_json)
