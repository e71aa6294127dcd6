"""`sluice plan`: what the next run would do. Writes nothing."""

from __future__ import annotations

import click

from sluice.cli.caller import open_named
from sluice.cli.output import arguments
from sluice.cli.views.outlook import print_outlook


@click.command(short_help="Show what the next run of PIPELINE would read.")
@arguments
def plan(pipeline: str, as_json: bool) -> None:
    """Show what the next run of PIPELINE would read, and what Kafka still holds. Writes nothing.

    Bytes and files are estimates.
    """
    print_outlook(open_named(pipeline).dry_run(), as_json)
