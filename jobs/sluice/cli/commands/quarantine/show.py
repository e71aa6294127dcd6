"""`sluice quarantine show`: the records that could not be decoded, as received."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import open_named
from sluice.cli.options import RecordPosition, record_options
from sluice.cli.output import arguments, print_json, print_table
from sluice.cli.views.records import document_of, undecoded
from sluice.offsets.quantities import format_count, format_moment
from sluice.offsets.quarantined import RecordFilter

if TYPE_CHECKING:
    from sluice.operations.quarantine.listing import ChosenRecords


@click.command(short_help="Show such records, with reason and value.")
@record_options
@click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many at most.",
)
@arguments
def show(
    pipeline: str,
    positions: Sequence[RecordPosition],
    batch: str,
    reason_like: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show quarantined records of PIPELINE, with reason and value; with --json in full, as base64.

    Records of a batch that is not committed are shown when --batch names it.
    """
    from sluice.operations.quarantine.listing import choose_records

    choice = RecordFilter(reason_like, batch, positions)
    found = choose_records(open_named(pipeline).resources, choice, limit)
    if as_json:
        print_json(_document(pipeline, found))
    else:
        _print(pipeline, found)


def _document(pipeline: str, found: ChosenRecords) -> dict[str, object]:
    return {
        "pipeline": pipeline,
        "chosen": found.chosen,
        "waiting": dict(found.waiting),
        "records": [document_of(each) for each in found.records],
    }


def _print(pipeline: str, found: ChosenRecords) -> None:
    print_table(
        f"{pipeline}: {len(found.records):,} of {format_count(found.chosen, 'record')}",
        ("record", "batch", "timestamp (UTC)", "reason", "value"),
        [
            (
                str(each.row),
                each.row.batch,
                format_moment(each.timestamp) if each.timestamp else None,
                each.row.error,
                undecoded(each),
            )
            for each in found.records
        ],
        prose=("reason", "value"),
    )
    for batch_left, records in found.waiting.items():
        click.echo(
            f"{format_count(records, 'more record')} of {batch_left}, which is not committed:"
            f" --batch {batch_left} shows them"
        )
