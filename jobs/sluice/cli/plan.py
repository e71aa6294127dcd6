"""`sluice plan`: what the next run would do. Writes nothing."""

from __future__ import annotations

import click

from sluice.cli.opening import opened
from sluice.cli.output import arguments, print_json, print_table
from sluice.pipeline.plan import preview
from sluice.pipeline.waiting import waiting
from sluice.planning.batches import Batch


@click.command()
@arguments
def plan(pipeline: str, as_json: bool) -> None:
    """Show the batches that the next run of PIPELINE would land. Writes nothing."""
    parts = opened(pipeline).parts
    _, history, committed = parts.progress(parts.offsets.snapshot)
    unfinished = history.after(committed)
    new = None if unfinished else preview(parts, history)
    batches = unfinished or (new.batches if new else ())
    held_back = [] if batches else waiting(parts)
    if as_json:
        print_json(
            {
                "pipeline": pipeline,
                "adopted": bool(unfinished),
                "batches": [_batch(each) for each in batches],
                "losses": [str(loss) for loss in (new.losses if new else ())],
                "held_back": held_back,
            }
        )
        return
    if not batches:
        click.echo("\n".join([f"{pipeline}: nothing new", *held_back]))
        return
    title = "planned before, not committed yet" if unfinished else "would be planned"
    rows = [
        (str(batch), str(each.partition), each.start, each.end, each.span)
        for batch in batches
        for each in (planned.offsets for planned in batch.ranges)
        if each.span
    ]
    print_table(f"{pipeline}: {title}", ("batch", "partition", "start", "end", "offsets"), rows)


def _batch(batch: Batch) -> dict[str, object]:
    return {
        "batch": str(batch),
        "mode": batch.mode,
        "offsets": batch.span,
        "ranges": [
            {
                "topic": each.offsets.partition.topic,
                "partition": each.offsets.partition.partition,
                "start": each.offsets.start,
                "end": each.offsets.end,
            }
            for each in batch.ranges
        ],
    }
