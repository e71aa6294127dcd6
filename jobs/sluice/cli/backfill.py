"""`sluice backfill`: read a time window below the cursor again, in place of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from sluice.cli.landing import landing
from sluice.cli.opening import here, opened
from sluice.cli.outlooks import print_outlook
from sluice.cli.output import arguments, print_json
from sluice.errors import SettingsError
from sluice.pipeline.look import look_again
from sluice.pipeline.wanted import Asked, asked

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show the batches that would be read; write nothing."
)


@click.command()
@click.option("--from", "start", required=True, help="Records from this moment on: 2026-11-01T06Z.")
@click.option("--to", "end", required=True, help="… and before this one.")
@dry_run_option
@arguments
def backfill(pipeline: str, start: str, end: str, dry_run: bool, as_json: bool) -> None:
    """Read the records of a time window again, and replace exactly their rows.

    Only what is below the cursor of PIPELINE, and what Kafka still holds: other rows stay as they
    are. The cursor does not move. Safe to stop and to repeat at any moment.
    """
    with refusing_usage():
        wanted = asked(start, end)
    read_again(pipeline, wanted, dry_run, as_json)


@contextmanager
def refusing_usage() -> Iterator[None]:
    """Options that cannot be read, or do not go together, are errors of usage."""
    try:
        yield
    except SettingsError as problem:
        raise click.UsageError(str(problem)) from None


def read_again(pipeline: str, wanted: Asked, dry_run: bool, as_json: bool) -> None:
    """Plan, ingest and settle what is wanted, or show the plan."""
    opening, origin = opened(pipeline), here()
    if dry_run:
        print_outlook(look_again(opening.parts, wanted), as_json)
        return
    with landing(opening, origin, as_json) as lands:
        planned = opening.backfill(wanted, origin.run_id, origin.actor)
        for each in planned.plan.left_out:
            lands.say(str(each))
        lands.finish(planned.work)
    if as_json:
        left_out = [str(each) for each in planned.plan.left_out]
        print_json({"pipeline": pipeline, "settled": lands.events, "left_out": left_out})
    elif not planned.work:
        click.echo(f"{pipeline}: nothing to read again")
