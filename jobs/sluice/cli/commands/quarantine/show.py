"""`sluice quarantine show`: the records that could not be decoded, as they came."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sluice.cli.caller import open_named
from sluice.cli.options import Position, record_options
from sluice.cli.output import arguments, print_json, print_table
from sluice.cli.views.records import document_of, excerpt
from sluice.offsets.quantities import format_count
from sluice.offsets.quarantined import RecordFilter, RecordState
from sluice.progress.quarantined_records import read_quarantined, read_records


@click.command()
@record_options
@click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many of them at most.",
)
@arguments
def show(
    pipeline: str,
    positions: Sequence[Position],
    batch: str,
    reason_like: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show quarantined records of PIPELINE, with reason and value; with --json whole, in base64.

    Records of a batch that is not committed are shown when --batch names it.
    """
    parts = open_named(pipeline).parts
    states = (RecordState.LIVE, RecordState.WAITING) if batch else (RecordState.LIVE,)
    choice = RecordFilter(reason_like, batch, positions)
    chosen = [row for row in read_quarantined(parts).of(*states) if row in choice]
    records = read_records(parts, sorted(chosen)[:limit])
    if as_json:
        documents = [document_of(each) for each in records]
        print_json({"pipeline": pipeline, "chosen": len(chosen), "records": documents})
        return
    print_table(
        f"{pipeline}: {len(records):,} of {format_count(len(chosen), 'record')}",
        ("record", "batch", "timestamp", "reason", "value"),
        [
            (str(each.row), each.row.batch, each.timestamp, each.row.error, excerpt(each.value))
            for each in records
        ],
    )
