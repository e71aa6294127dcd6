"""`sluice history`: the newest batches with their counts, the newest resets and losses."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sluice.cli.caller import open_named
from sluice.cli.output import arguments, print_json, print_table
from sluice.cli.views.resets import recorded_document, reset_document, reset_told
from sluice.offsets.losses import Loss
from sluice.offsets.receipts import Receipt


@click.command()
@click.option(
    "-n",
    "--newest",
    default=20,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many of each.",
)
@arguments
def history(pipeline: str, newest: int, as_json: bool) -> None:
    """Show the newest settled batches, resets and losses of PIPELINE, the latest last.

    Losses are offsets that were passed over, or dropped from quarantine, with their causes.
    """
    found = open_named(pipeline).history(newest)
    if as_json:
        batches = [_batch(*each) for each in found.receipts]
        moves = [reset_document(each) for each in found.resets]
        gone = [_loss(each) for each in found.losses]
        print_json({"pipeline": pipeline, "batches": batches, "resets": moves, "losses": gone})
        return
    _print_batches(pipeline, found.receipts)
    for reset in found.resets:
        click.echo(f"generation {reset.generation}: {reset_told(reset)}")
    for loss in found.losses:
        click.echo(f"lost: {loss.offsets}: {loss.cause} ({loss.recorded})")


def _print_batches(pipeline: str, receipts: Sequence[tuple[Receipt, bool]]) -> None:
    print_table(
        f"{pipeline}: newest batches",
        (
            *("batch", "mode", "offsets", "records", "quarantined", "gaps", "table version"),
            "settled by",
        ),
        [
            (
                f"{each.batch}{', undone' if undone else ''}",
                each.batch.mode,
                each.batch.span,
                each.records,
                each.quarantined,
                each.gaps,
                each.data_version,
                each.recorded,
            )
            for each, undone in receipts
        ],
    )


def _loss(loss: Loss) -> dict[str, object]:
    return {
        **loss.offsets.as_dict(),
        "cause": str(loss.cause),
        "dropped_from": loss.dropped_from,
        **recorded_document(loss.recorded),
    }


def _batch(receipt: Receipt, undone: bool) -> dict[str, object]:
    return {
        "batch": str(receipt.batch),
        "undone": undone,
        "mode": receipt.batch.mode,
        "data_version": receipt.data_version,
        "records": receipt.records,
        "quarantined": receipt.quarantined,
        "gaps": receipt.gaps,
        **recorded_document(receipt.recorded),
        "partitions": [
            {
                **line.planned.offsets.as_dict(),
                "records": line.records,
                "quarantined": line.quarantined,
                "gaps": line.gaps.total,
            }
            for line in receipt.counted
        ],
    }
