"""`sluice quarantine replay`: read quarantined records again, with today's schema."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sluice.cli.backfill import dry_run_option, read_again
from sluice.cli.choosing import Position, choosing, everything_option, some_or_all
from sluice.cli.output import arguments
from sluice.pipeline.wanted import quarantined


@click.command()
@choosing
@everything_option
@dry_run_option
@arguments
def replay(
    pipeline: str,
    positions: Sequence[Position],
    batch: str,
    reason_like: str,
    everything: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Read quarantined records of PIPELINE from Kafka again, with today's schema.

    What is decodable now arrives in the table, and leaves the quarantine with the same commit; what
    is not stays. Records in between are read along, and replace their own rows.
    """
    choice = some_or_all(reason_like, batch, positions, everything)
    read_again(pipeline, quarantined(choice), dry_run, as_json)
