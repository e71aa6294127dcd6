"""`sluice quarantine drop`: forget records that could not be decoded, with a reason."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.options import (
    RecordPosition,
    chosen_records,
    everything_option,
    executing,
    record_options,
    require_reason,
)
from sluice.cli.output import arguments, nothing_changed, print_json
from sluice.offsets.error_groups import group_errors
from sluice.offsets.quantities import format_count
from sluice.offsets.quarantined import Drop
from sluice.offsets.ranges import span_of


@click.command(short_help="Forget such records, and record each as lost.")
@record_options
@everything_option
@executing
@arguments
def drop(
    pipeline: str,
    positions: Sequence[RecordPosition],
    batch: str,
    reason_like: str,
    everything: bool,
    reason: str,
    execute: bool,
    as_json: bool,
) -> None:
    """Forget quarantined records of PIPELINE: record each as lost, and delete its row.

    Shows what would be dropped, without a JVM; changes nothing without --execute, which starts one
    to delete the rows. May be repeated after a crash.
    """
    choice = chosen_records(reason_like, batch, positions, everything)
    require_reason(execute, reason, "loss")
    from sluice.operations.quarantine import drop as dropping

    opened, caller = open_named(pipeline), current_user()
    if execute:
        by = opened.origin(caller.run_id, caller.actor)
        found = dropping.drop(opened.resources, choice, reason, by, opened.open_upkeep)
    else:
        found = dropping.preview_drop(opened.resources, choice)
    if as_json:
        print_json({"pipeline": pipeline, "executed": found.done, **_document(found)})
        return
    _print(pipeline, found)


def _print(pipeline: str, found: Drop) -> None:
    for each in group_errors(found.chosen):
        click.echo(f"{pipeline}: {format_count(len(each.rows), 'record')}: {each.text}")
    for loss in found.losses:
        click.echo(f"  {loss.offsets} of {loss.dropped_from}")
    state = "dropped, and recorded as lost" if found.done else "would be dropped"
    click.echo(f"{pipeline}: {format_count(len(found.chosen), 'record')} {state}.")
    if found.above_cursor:
        named = format_count(found.above_cursor, "record")
        click.echo(
            f"{pipeline}: {named} above the cursor: the next run reads them again, and puts what is"
            " still undecodable into quarantine."
        )
    if found.chosen and not found.done:
        click.echo(f"{nothing_changed()}, and starts a JVM.")


def _document(found: Drop) -> dict[str, object]:
    return {
        "records": len(found.chosen),
        "above_cursor": found.above_cursor,
        "losses": [{"batch": each.dropped_from, **each.offsets.as_dict()} for each in found.losses],
        "rows": span_of(each.offsets for each in found.rows),
    }
