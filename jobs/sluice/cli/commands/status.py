"""`sluice status`: where the cursor is, and how far it lags behind, for one pipeline or for all."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import open_fleet, open_named
from sluice.cli.output import json_option, pipeline_argument
from sluice.cli.output_pipe import reader_has_left
from sluice.cli.views.overviews import print_failing, print_overview_documents, print_overviews
from sluice.cli.views.status import print_status

if TYPE_CHECKING:
    from pathlib import Path

    from sluice.errors import SpecError
    from sluice.operations.overview.overview import Overview

    Found = tuple[Sequence[Overview], Mapping[Path, SpecError]]

TEXT, JSON, OPENMETRICS = FORMATS = ("text", "json", "openmetrics")
# The states that may fail, the worst first (`Condition`).
_STATES = ("stopped", "unknown", "behind")


@click.command(short_help="Show how far PIPELINE is, or all pipelines at a glance.")
@pipeline_argument(required=False)
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
@click.option(
    "--fail-on",
    type=click.Choice(_STATES),
    help="Exit with 1 if a pipeline is in this state, or in one before it in this list.",
)
@json_option
def status(
    pipeline: str | None,
    everything: bool,
    watch: bool,
    every: float,
    form: str,
    fail_on: str | None,
    as_json: bool,
) -> None:
    """Show the cursor, the last stable offset (LSO) and the lag of each partition of PIPELINE.

    A batch is read from the cursor up to the LSO, where an open transaction may begin.

    Without a name, all pipelines at a glance: whether each is fresh, behind or stopped, and why.
    Exits with 1 if there is no such folder of specs. With --fail-on, a refused spec counts as
    stopped, and so does a folder without any specs.
    """
    if pipeline and everything:
        raise click.UsageError("Give a name, or --all.")
    form = _one_format(form, as_json)
    if watch and (form != TEXT or fail_on):
        left_out = f"the format {form}" if form != TEXT else "--fail-on"
        raise click.UsageError(f"--watch is for people: leave {left_out} out.")
    show = _of_one(pipeline, form) if pipeline else _of_all(form)
    found, refused = show()
    while watch and not reader_has_left():
        time.sleep(every)
        click.clear()
        show()
    # It loads what checks a spec, which `--help` does not need.
    from sluice.spec_folder import NoSpecFolder

    no_folder = any(isinstance(why, NoSpecFolder) for why in refused.values())
    if no_folder or (fail_on and print_failing(found, refused, fail_on)):
        sys.exit(1)


def _one_format(form: str, as_json: bool) -> str:
    """The format; `--json` is short for one. Raises UsageError for two of them."""
    if as_json and form == OPENMETRICS:
        raise click.UsageError("--json is short for --format json: give one of them.")
    return JSON if as_json else form


def _of_one(pipeline: str, form: str) -> Callable[[], Found]:
    """Shows it, and how it is among all; that asks Kafka once more."""
    if form == OPENMETRICS:
        return _shown_by(_print_openmetrics, pipeline)
    opened, fleet = open_named(pipeline), open_fleet(pipeline)

    def show() -> Found:
        status = opened.status()
        (glance,) = found = fleet.read()
        print_status(status, glance, form == JSON)
        return found, fleet.refused

    return show


def _of_all(form: str) -> Callable[[], Found]:
    shown = {
        TEXT: print_overviews,
        JSON: print_overview_documents,
        OPENMETRICS: _print_openmetrics,
    }
    return _shown_by(shown[form])


def _shown_by(
    show: Callable[[Sequence[Overview], Mapping[Path, SpecError]], None],
    pipeline: str | None = None,
) -> Callable[[], Found]:
    fleet = open_fleet(pipeline)

    def shown() -> Found:
        found = fleet.read()
        show(found, fleet.refused)
        return found, fleet.refused

    return shown


def _print_openmetrics(found: Sequence[Overview], refused: Mapping[Path, SpecError]) -> None:
    # It loads Prometheus' client, which nothing else needs.
    from sluice.cli.views.openmetrics import print_openmetrics

    print_openmetrics(found, len(refused))
