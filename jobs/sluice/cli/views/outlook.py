"""What a run would do, as a table for people or as JSON for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sluice.cli.output import print_json, print_table
from sluice.cli.views.lags import partition_document
from sluice.offsets.batches import Batch
from sluice.offsets.lag import loss_told
from sluice.operations.outlook_text import remarks_of, summary_of

if TYPE_CHECKING:
    from sluice.protocol.plan.outlook import Outlook


def print_outlook(outlook: Outlook, as_json: bool) -> None:
    """Print batches, partitions and remarks."""
    if as_json:
        print_json(_document(outlook))
        return
    click.echo(summary_of(outlook))
    if outlook.ranges:
        print_table(
            "batches",
            ("batch", "mode", "partition", "start", "end", "offsets"),
            [
                (str(batch), batch.mode, str(each.partition), each.start, each.end, each.span)
                for batch in outlook.batches
                for each in (planned.offsets for planned in batch.ranges)
                if each.span
            ],
        )
    if outlook.batches and outlook.lags:
        print_table(
            "partitions",
            (
                *("partition", "log start", "read from" if outlook.reads_again else "cursor"),
                *("LSO", "left", "time to loss"),
            ),
            [
                (
                    str(each.partition),
                    each.log_start_offset,
                    each.cursor,
                    each.last_stable_offset,
                    outlook.left(each),
                    loss_told([each]),
                )
                for each in outlook.lags
            ],
        )
    for line in remarks_of(outlook):
        click.echo(line)


def _document(outlook: Outlook) -> dict[str, object]:
    return {
        "pipeline": outlook.pipeline,
        "adopted": [str(batch) for batch in outlook.adopted],
        "offsets": outlook.offsets,
        "estimated": asdict(outlook.basis.estimate(outlook.ranges)),
        "batches": [_batch(outlook, each) for each in outlook.batches],
        "left_for_later": {"offsets": outlook.later, "batches": outlook.batches_later},
        "partitions": [
            {**partition_document(each), "left_for_later": outlook.left(each)}
            for each in outlook.lags
        ],
        "losses": [str(loss) for loss in outlook.losses],
        "held_back": [each.waiting for each in outlook.lags if each.waiting],
        "notes": list(outlook.notes),
    }


def _batch(outlook: Outlook, batch: Batch) -> dict[str, object]:
    return {
        "batch": str(batch),
        "mode": batch.mode,
        "offsets": batch.span,
        "estimated": asdict(outlook.basis.estimate(each.offsets for each in batch.ranges)),
        "ranges": [each.offsets.as_dict() for each in batch.ranges],
    }
