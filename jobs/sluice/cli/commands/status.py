"""`sluice status`: where the cursor is, and how far it lags behind, for one pipeline or for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import open_fleet, open_named
from sluice.cli.output import json_option
from sluice.cli.views.overviews import print_overview_documents, print_overviews
from sluice.cli.views.status import print_status

if TYPE_CHECKING:
    from pathlib import Path

    from sluice.errors import SpecError
    from sluice.operations.overview.overview import Overview

    Show = Callable[[Sequence[Overview], Mapping[Path, SpecError]], None]

TEXT, JSON, OPENMETRICS = FORMATS = ("text", "json", "openmetrics")


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
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=TEXT,
    show_default=True,
    help="openmetrics is for Prometheus (docs/metrics.md).",
)
@json_option
def status(
    pipeline: str | None, everything: bool, watch: bool, every: float, form: str, as_json: bool
) -> None:
    """Show the cursor, the last stable offset (LSO) and the lag of each partition of PIPELINE.

    A batch is read from the cursor up to the LSO, where an open transaction may begin.

    Without a name, all pipelines at a glance: whether each is fresh, behind or stopped, and why.
    """
    if pipeline and everything:
        raise click.UsageError("Give a name, or --all.")
    form = _one_format(form, as_json)
    if watch and form != TEXT:
        raise click.UsageError(f"--watch is for people: leave the format {form} out.")
    show = _of_one(pipeline, form) if pipeline else _of_all(form)
    show()
    while watch:
        time.sleep(every)
        click.clear()
        show()


def _one_format(form: str, as_json: bool) -> str:
    """The format; `--json` is short for one. Raises UsageError for two of them."""
    if as_json and form == OPENMETRICS:
        raise click.UsageError("--json is short for --format json: give one of them.")
    return JSON if as_json else form


def _of_one(pipeline: str, form: str) -> Callable[[], None]:
    if form == OPENMETRICS:
        return _shown_by(_print_openmetrics, pipeline)
    opened = open_named(pipeline)
    return lambda: print_status(opened.status(), form == JSON)


def _of_all(form: str) -> Callable[[], None]:
    shown = {
        TEXT: print_overviews,
        JSON: print_overview_documents,
        OPENMETRICS: _print_openmetrics,
    }
    return _shown_by(shown[form])


def _shown_by(show: Show, pipeline: str | None = None) -> Callable[[], None]:
    fleet = open_fleet(pipeline)
    return lambda: show(fleet.read(), fleet.refused)


def _print_openmetrics(found: Sequence[Overview], refused: Mapping[Path, SpecError]) -> None:
    # It loads Prometheus' client, which nothing else needs.
    from sluice.cli.views.openmetrics import print_openmetrics

    print_openmetrics(found, len(refused))
