"""`sluice history`: the newest batches with their counts, resets, losses, refreshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import open_named
from sluice.cli.output import arguments, moment_document, print_json, print_table
from sluice.cli.views.batches import batch_lines, edition_document
from sluice.cli.views.resets import recorded_document, reset_document, reset_told
from sluice.cli.views.states import print_refreshes, state_history_document
from sluice.offsets.filtered import as_key
from sluice.offsets.losses import Loss
from sluice.offsets.quantities import format_count, format_moment, format_ranges

if TYPE_CHECKING:
    from sluice.operations.history import KnownBatch, LossEvent, PipelineHistory, SettledBatch


@click.command(short_help="Show the newest batches, resets and losses of PIPELINE.")
@click.option(
    "-n",
    "--newest",
    default=20,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many of each.",
)
@click.option("--batch", metavar="NAME", help="One batch, and the spec that it was read with.")
@arguments
def history(pipeline: str, newest: int, batch: str | None, as_json: bool) -> None:
    """Show the newest settled batches, resets and losses of PIPELINE, the latest last.

    `took` is the time from a batch's plan to its receipt. Losses are offsets that were passed over,
    or dropped from quarantine, with their causes.

    If there is a state table, its newest refreshes come last: the versions of the data table that
    each has followed, and what that did.
    """
    from sluice.operations.history import read_batch, read_history

    resources = open_named(pipeline).resources
    if batch is not None:
        _show_batch(pipeline, read_batch(resources, batch), as_json)
        return
    found = read_history(resources, newest)
    if as_json:
        print_json(_document(pipeline, found))
        return
    _print_batches(pipeline, found.batches)
    for reset in found.resets:
        click.echo(f"generation {reset.generation}: {reset_told(reset)}")
    if found.older_losses:
        click.echo(f"lost: {format_count(found.older_losses, 'older event')}; -n shows more")
    for event in found.losses:
        click.echo(_loss_told(event))
    if found.state is not None:
        print_refreshes(pipeline, found.state)


def _show_batch(pipeline: str, found: KnownBatch, as_json: bool) -> None:
    if not as_json:
        for line in batch_lines(found):
            click.echo(line)
        return
    document = {
        "pipeline": pipeline,
        "batch": str(found.batch),
        "ranges": [each.offsets.as_dict() for each in found.batch.ranges],
        "planned_with": edition_document(found.planned_with),
        "read_with": edition_document(found.read_with),
        "settled": _batch(found.settled) if found.settled else None,
    }
    print_json(document)


def _document(pipeline: str, found: PipelineHistory) -> dict[str, object]:
    return {
        "pipeline": pipeline,
        "batches": [_batch(each) for each in found.batches],
        "resets": [reset_document(each) for each in found.resets],
        "losses": [_loss(each) for event in found.losses for each in event.losses],
        **({"state": state_history_document(found.state)} if found.state else {}),
    }


def _print_batches(pipeline: str, batches: Sequence[SettledBatch]) -> None:
    filters = any(each.receipt.filtered for each in batches)
    print_table(
        f"{pipeline}: newest batches",
        (
            *(
                "batch",
                "records",
                "quarantined",
                *(["filtered"] if filters else []),
                "gaps",
                "version",
            ),
            *("settled (UTC)", "took", "actor", "run"),
        ),
        [_row(each, filters) for each in batches],
        prose=("actor", "run"),
    )


def _row(found: SettledBatch, filters: bool) -> tuple[object, ...]:
    receipt, settled = found.receipt, found.settled
    return (
        f"{receipt.batch}{' (undone)' if found.undone else ''}",
        receipt.records,
        receipt.quarantined,
        *([receipt.filtered] if filters else []),
        receipt.gaps,
        receipt.data_version,
        format_moment(settled.at),
        found.took,
        settled.actor,
        settled.run_id,
    )


def _loss_told(event: LossEvent) -> str:
    first = event.losses[0]
    offsets = format_ranges(each.offsets for each in event.losses)
    lost = format_count(event.offsets, "offset")
    return f"lost: {lost}: {first.cause} ({first.recorded}): {offsets}"


def _loss(loss: Loss) -> dict[str, object]:
    return {
        **loss.offsets.as_dict(),
        "cause": str(loss.cause),
        "dropped_from": loss.dropped_from,
        **recorded_document(loss.recorded),
    }


def _batch(found: SettledBatch) -> dict[str, object]:
    receipt, took = found.receipt, found.took
    return {
        "batch": str(receipt.batch),
        "undone": found.undone,
        "mode": receipt.batch.mode,
        "complete_until": moment_document(receipt.batch.complete_until),
        "data_version": receipt.data_version,
        "records": receipt.records,
        "quarantined": receipt.quarantined,
        **as_key(receipt.filtered),
        "gaps": receipt.gaps,
        "planned_at": moment_document(found.planned.at if found.planned else None),
        "seconds": took.total_seconds() if took is not None else None,
        "spec": receipt.spec.digest if receipt.spec else None,
        **recorded_document(receipt.recorded),
        "partitions": [
            {
                **line.planned.offsets.as_dict(),
                "records": line.records,
                "quarantined": line.quarantined,
                **as_key(line.filtered),
                "gaps": line.gaps.total,
            }
            for line in receipt.counted
        ],
    }
