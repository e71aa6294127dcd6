"""`sluice status`: where the cursor is, and how far it lags behind; of one pipeline, or of all."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from sluice.cli.caller import open_fleet, open_named
from sluice.cli.output import json_option
from sluice.cli.views.overviews import print_overview_documents, print_overviews
from sluice.cli.views.status import print_status


@click.command(short_help="Show how far PIPELINE is, or all pipelines at a glance.")
@click.argument("pipeline", required=False)
@click.option("--all", "everything", is_flag=True, help="All pipelines, as without a name.")
@click.option("--watch", is_flag=True, help="Show it again and again, until Ctrl-C.")
@click.option(
    "--every",
    default=5.0,
    show_default=True,
    type=click.FloatRange(1, 3600),
    metavar="SECONDS",
    help="How often, with --watch.",
)
@json_option
def status(
    pipeline: str | None, everything: bool, watch: bool, every: float, as_json: bool
) -> None:
    """Show cursor, last stable offset and lag per partition of PIPELINE, and its last batch.

    Without a name, all pipelines at a glance: whether each is fresh, behind or stopped, and why.
    """
    if pipeline and everything:
        raise click.UsageError("Give a name, or --all.")
    if watch and as_json:
        raise click.UsageError("--watch is for people: leave --json out.")
    show = _of_one(pipeline, as_json) if pipeline else _of_all(as_json)
    show()
    while watch:
        time.sleep(every)
        click.clear()
        show()


def _of_one(pipeline: str, as_json: bool) -> Callable[[], None]:
    opened = open_named(pipeline)
    return lambda: print_status(opened.status(), as_json)


def _of_all(as_json: bool) -> Callable[[], None]:
    fleet = open_fleet()
    shown = print_overview_documents if as_json else print_overviews
    return lambda: shown(fleet.read())
