"""`sluice quarantine replay`: read quarantined records again, with today's schema."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sluice.cli.options import (
    RecordPosition,
    bring_back_option,
    chosen_records,
    dry_run_option,
    everything_option,
    record_options,
)
from sluice.cli.output import arguments
from sluice.cli.runner import run_selection


@click.command(short_help="Read such records again, with today's schema.")
@record_options
@everything_option
@dry_run_option
@bring_back_option
@arguments
def replay(
    pipeline: str,
    positions: Sequence[RecordPosition],
    batch: str,
    reason_like: str,
    everything: bool,
    dry_run: bool,
    bring_back_erased: bool,
    as_json: bool,
) -> None:
    """Read quarantined records of PIPELINE from Kafka again, with today's schema.

    Records that are decodable now enter the table, and leave the quarantine with the same commit;
    the others stay. Records in between are read as well, and replace their own rows.
    """
    from sluice.operations.backfill.replay import quarantined_records

    choice = chosen_records(reason_like, batch, positions, everything)
    run_selection(pipeline, quarantined_records(choice), dry_run, bring_back_erased, as_json)
