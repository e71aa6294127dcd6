"""`sluice plan`: what the next run would do. Writes nothing."""

from __future__ import annotations

import click

from sluice.cli.opening import opened
from sluice.cli.outlooks import print_outlook
from sluice.cli.output import arguments
from sluice.pipeline.look import look


@click.command()
@arguments
def plan(pipeline: str, as_json: bool) -> None:
    """Show what the next run of PIPELINE would read, and what Kafka still holds. Writes nothing.

    Bytes and files are estimates.
    """
    print_outlook(look(opened(pipeline).parts), as_json)
