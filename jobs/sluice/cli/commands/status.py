"""`sluice status`: where the cursor is and how far it is behind."""

from __future__ import annotations

import click

from sluice.cli.caller import open_named
from sluice.cli.output import arguments, print_json, print_table
from sluice.cli.views.lags import partition_document
from sluice.cli.views.resets import reset_document, reset_told
from sluice.offsets.history import History
from sluice.offsets.lag import Lag
from sluice.offsets.losses import Loss
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import span_of
from sluice.progress.committed import losses_that_count
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.start import start_without_effect


@click.command()
@arguments
def status(pipeline: str, as_json: bool) -> None:
    """Show cursor, last stable offset and lag per partition of PIPELINE, and its last batch."""
    parts = open_named(pipeline).parts
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    cursor = {each: at.offsets.end for each, at in history.cursor_at(committed).items()}
    found = read_lags(parts, cursor, parts.kafka.state(parts.spec))
    notes = [*unknown_times(found), *filter(None, [start_without_effect(parts, snapshot)])]
    losses = losses_that_count(parts, snapshot, history.sequence.generation)
    _, again, landed = parts.progress(parts.offsets.snapshot, "backfill")
    if again.after(landed):
        named = ", ".join(map(str, again.after(landed)))
        notes.append(f"to be read again, not committed yet: {named}. The next backfill lands them.")
    if not as_json:
        _print(history, committed, losses, found, notes)
        return
    print_json(
        {
            "pipeline": pipeline,
            "generation": history.sequence.generation,
            "last_batch": str(history.batch(committed)) if committed else None,
            "unfinished": [str(batch) for batch in history.after(committed)],
            "unsettled": committed - history.settled,
            "backfill": {
                "last_batch": str(again.batch(landed)) if landed else None,
                "unfinished": [str(batch) for batch in again.after(landed)],
                "unsettled": landed - again.settled,
            },
            "lost": span_of(each.offsets for each in losses),
            "reset": reset_document(history.opening) if history.opening else None,
            "partitions": [partition_document(each) for each in found],
            "notes": notes,
        }
    )


def _print(
    history: History, committed: int, losses: list[Loss], found: list[Lag], notes: list[str]
) -> None:
    last = history.batch(committed) if committed else "none"
    unfinished = ", ".join(map(str, history.after(committed)))
    print_table(
        f"{history.sequence.pipeline}: generation {history.sequence.generation}, last batch {last}",
        ("partition", "cursor", "LSO", "end", "lag", "oldest unread", "time to loss", "held back"),
        [_row(each) for each in found],
    )
    for line in filter(None, [*(each.waiting for each in found), *notes]):
        click.echo(line)
    if history.opening:
        click.echo(f"opened by a reset: {reset_told(history.opening)}")
    if losses:
        lost = span_of(each.offsets for each in losses)
        records = format_count(len(losses), "loss record")
        click.echo(f"lost: {format_count(lost, 'offset')} in {records}")
    if unfinished:
        click.echo(f"planned, not committed yet: {unfinished}. The next run lands them.")
    if committed > history.settled:
        due = format_count(committed - history.settled, "batch", "batches")
        click.echo(f"{due} without receipt. The next run settles.")


def _row(lag: Lag) -> tuple[object, ...]:
    return (
        str(lag.partition),
        lag.cursor,
        lag.last_stable_offset,
        lag.end_offset,
        lag.records,
        lag.age,
        lag.time_to_loss,
        lag.held_back,
    )
