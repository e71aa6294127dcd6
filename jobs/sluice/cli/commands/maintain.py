"""`sluice maintain`: compact the tables, and remove what is no longer needed."""

from __future__ import annotations

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.output import arguments, print_json


@click.command(short_help="Compact and vacuum the tables of PIPELINE.")
@arguments
def maintain(pipeline: str, as_json: bool) -> None:
    """Compact and vacuum the tables of PIPELINE, and remove quarantine rows that no longer count.

    Last the state table, whose rows that were marked as deleted leave its files too.

    Safe while pipelines run; may be stopped and repeated at any moment. Files stay for the tables'
    delta.deletedFileRetentionDuration (7 days).
    """
    opened, origin = open_named(pipeline), current_user()
    done = opened.maintain(origin.run_id, origin.actor)
    if as_json:
        print_json(
            {
                "pipeline": pipeline,
                "settled": done.settled,
                "quarantine_rows_removed": done.removed,
                **({"deleted_keys_collected": done.collected} if done.collected else {}),
                "compacted": {uri: vars(each) for uri, each in done.compacted.items()},
                "left_for_next_time": done.postponed,
            }
        )
        return
    for line in done.summary:
        click.echo(f"{pipeline}: {line}")
