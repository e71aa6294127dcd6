"""`sluice reset`: close the generation, and go on from somewhere else."""

from __future__ import annotations

import click

from sluice.cli.opening import here, opened
from sluice.cli.output import arguments, print_json, print_table
from sluice.pipeline.targets import Target, to_earliest, to_table
from sluice.planning.resets import MovedCursor, Reset


@click.command()
@click.option(
    "--to-table",
    "target",
    flag_value=to_table,
    type=click.UNPROCESSED,
    help="After a RESTORE: the cursor of the last batch that the table still holds.",
)
@click.option(
    "--to-earliest",
    "target",
    flag_value=to_earliest,
    type=click.UNPROCESSED,
    help="All that Kafka still holds, once more.",
)
@click.option("--reason", default="", help="Why, for the record. Needed with --execute.")
@click.option("--execute", is_flag=True, help="Make it so. Without it, nothing is changed.")
@arguments
def reset(pipeline: str, target: Target | None, reason: str, execute: bool, as_json: bool) -> None:
    """Move the cursor of PIPELINE. Shows old and new; changes nothing without --execute.

    Offsets that are read again replace their rows; nothing is ever stored twice.
    """
    if target is None:
        raise click.UsageError("Say where to: --to-table or --to-earliest.")
    if execute and not reason.strip():
        raise click.UsageError("--execute needs --reason: it is recorded with the reset.")
    opening, origin = opened(pipeline), here()
    if execute:
        found = opening.reset(target, reason, origin.run_id, origin.actor)
    else:
        found = opening.preview_reset(target)
    if as_json:
        print_json(_document(found))
        return
    state = "done" if found.done else "would be"
    print_table(
        f"{pipeline}: generation {found.generation}, {state}",
        ("partition", "cursor", "new cursor", "read again", "skipped"),
        [(str(each.partition), each.before, *_moves(each)) for each in found.cursor],
    )
    click.echo(
        f"{found.closes[0].batch(found.closed_at['forward'])} is the last batch of the generation"
        f" before.{'' if found.done else ' Nothing was changed: --execute --reason … does it.'}"
    )


def _moves(moved: MovedCursor) -> tuple[int, int, int]:
    after = moved.after.offsets.start
    before = after if moved.before is None else moved.before
    return after, max(0, before - after), max(0, after - before)


def _document(found: Reset) -> dict[str, object]:
    return {
        "pipeline": found.pipeline,
        "generation": found.generation,
        "executed": found.done,
        "closed_at": found.closed_at,
        "reason": found.reason,
        "partitions": [
            {
                "topic": each.partition.topic,
                "partition": each.partition.partition,
                "cursor_before": each.before,
                "cursor_after": each.after.offsets.start,
                "read_again": _moves(each)[1],
                "skipped": _moves(each)[2],
            }
            for each in found.cursor
        ],
    }
