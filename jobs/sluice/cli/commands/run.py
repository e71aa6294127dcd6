"""`sluice run`: plan, ingest, settle and refresh in one process, until caught up with its start."""

from __future__ import annotations

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.output import arguments, print_json
from sluice.cli.runner import running


@click.command(short_help="Bring the tables of PIPELINE up to date.")
@arguments
def run(pipeline: str, as_json: bool) -> None:
    """Bring the table of PIPELINE up to date: to the end of its topics as it is now.

    Then bring its state table, if there is one, to the same version. Records that are produced
    meanwhile may wait for the next run. Safe to stop and to repeat at any moment. Starts Spark if
    there is anything new; `sluice plan` shows that without Spark.
    """
    # They load Kafka's and Delta's clients, which help and wrong usage do without.
    from sluice.progress.lane_state import read_unchecked
    from sluice.progress.unfinished import unfinished_backfill
    from sluice.protocol.plan.log_ends import has_reached, read_log_ends

    opened, origin = open_named(pipeline), current_user()
    with running(opened, origin, as_json) as lands:
        # A busy topic has no end of its own.
        ends = read_log_ends(opened.resources)
        while work := opened.plan(origin.run_id, origin.actor):
            lands.finish(work)
            if has_reached(opened.resources, ends):
                break
        else:
            lands.finish(work)
        for line in unfinished_backfill(read_unchecked(opened.resources, "backfill")):
            lands.say(line)
        if lands.events:
            lands.say("has all that could be read when the run began")
        lands.refresh()
    if as_json:
        print_json(lands.document)
    elif not lands.events and not lands.followed:
        click.echo(f"{pipeline}: nothing new")
    lands.end()
