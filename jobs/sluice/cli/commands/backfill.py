"""`sluice backfill`: read a time window below the cursor again, in place of its rows."""

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


@click.command(short_help="Read a time window again, and replace its rows.")
@from_option(required=True)
@to_option(required=True)
@dry_run_option
@bring_back_option
@arguments
def backfill(
    pipeline: str, start: str, end: str, dry_run: bool, bring_back_erased: bool, as_json: bool
) -> None:
    """Read the records of a time window again, and replace exactly their rows.

    Only records below the cursor of PIPELINE that Kafka still holds: other rows stay as they are.
    The cursor does not move. Safe to stop and to repeat at any moment. For single offsets or whole
    batches: `sluice reprocess`.
    """
    from sluice.operations.backfill.selection import parse_selection

    with refusing_usage():
        wanted = parse_selection(start, end)
    run_selection(pipeline, wanted, dry_run, bring_back_erased, as_json)
