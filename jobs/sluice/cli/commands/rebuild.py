"""`sluice rebuild`: make the state table anew from the data table."""

from __future__ import annotations

import logging

import click

from sluice.cli.caller import open_named
from sluice.cli.interrupts import last_words
from sluice.cli.output import arguments, print_json
from sluice.cli.views.states import rebuild_document, rebuild_lines


@click.command(short_help="Make the state table of PIPELINE anew from its data table.")
@click.option("--execute", is_flag=True, help="Do it. Otherwise nothing is changed.")
@arguments
def rebuild(pipeline: str, execute: bool, as_json: bool) -> None:
    """Make the state table of PIPELINE anew from its data table, in one commit.

    For a state table that is refused: dropped, restored, altered by others, or made by another
    `state` section of the spec. Nothing is lost by it. Shows what it would do; changes nothing
    without --execute. May be stopped and repeated at any moment; the data table goes on meanwhile.
    """
    # They load Delta's client, which help and wrong usage do without.
    from sluice.operations import rebuild as rebuilding

    opened = open_named(pipeline)
    if execute:
        logging.getLogger("sluice.protocol.refresh").setLevel(logging.INFO)
        with last_words(lambda: _interrupted(pipeline)):
            found = rebuilding.rebuild(opened.resources, opened.open_state)
    else:
        found = rebuilding.preview_rebuild(opened.resources)
    if as_json:
        print_json(rebuild_document(found))
        return
    for line in rebuild_lines(found):
        click.echo(f"{pipeline}: {line}")
    if found.data_version is not None and found.done is None:
        click.echo("Nothing was changed: --execute does it.")


def _interrupted(pipeline: str) -> str:
    again = f"`sluice rebuild {pipeline} --execute`"
    return f"{pipeline}: the state table may be refused until {again} is complete."
