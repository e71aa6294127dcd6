"""`sluice history`: the newest batches with their counts, and the newest resets."""

from __future__ import annotations

import click

from sluice.cli.moves import reset_document, reset_told
from sluice.cli.opening import opened
from sluice.cli.output import arguments, print_json, print_table
from sluice.pipeline.committed import newest_receipts
from sluice.planning.resets import Reset, Resets
from sluice.proof.accounting import Receipt


@click.command()
@click.option(
    "-n",
    "--newest",
    default=20,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many of them.",
)
@arguments
def history(pipeline: str, newest: int, as_json: bool) -> None:
    """Show the newest settled batches and resets of PIPELINE, the latest last."""
    parts = opened(pipeline).parts
    snapshot, known, _ = parts.progress(parts.offsets.snapshot)
    receipts = newest_receipts(parts, snapshot, known.sequence.generation, newest)
    resets = _that_count(snapshot.resets(pipeline), known.sequence.generation)[-newest:]
    if as_json:
        batches = [_batch(*each) for each in receipts]
        moves = [reset_document(each) for each in resets]
        print_json({"pipeline": pipeline, "batches": batches, "resets": moves})
        return
    print_table(
        f"{pipeline}: newest batches",
        ("batch", "mode", "offsets", "records", "quarantined", "gaps", "table version"),
        [
            (
                f"{each.batch}{', undone' if undone else ''}",
                each.batch.mode,
                each.batch.span,
                each.records,
                each.quarantined,
                each.gaps,
                each.data_version,
            )
            for each, undone in receipts
        ],
    )
    for reset in resets:
        click.echo(f"generation {reset.generation}: {reset_told(reset)}")


def _that_count(resets: Resets, newest: int) -> list[Reset]:
    """The resets in order, without one that was intended and never fenced."""
    found = sorted(resets.by_generation.items())
    return [reset for generation, reset in found if generation <= newest]


def _batch(receipt: Receipt, undone: bool) -> dict[str, object]:
    return {
        "batch": str(receipt.batch),
        "undone": undone,
        "mode": receipt.batch.mode,
        "data_version": receipt.data_version,
        "records": receipt.records,
        "quarantined": receipt.quarantined,
        "gaps": receipt.gaps,
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
