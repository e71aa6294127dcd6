"""`sluice quarantine list`: why records could not be decoded, and how many are allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from sluice.cli.caller import open_named
from sluice.cli.output import arguments, print_json, print_table
from sluice.cli.views.records import document_of, excerpt
from sluice.offsets.quarantined import QuarantinedRecord, RecordState
from sluice.operations.quarantine.error_groups import ErrorGroup, group_errors
from sluice.progress.committed import newest_receipts
from sluice.progress.quarantined_records import Quarantined, Record, read_quarantined, read_records
from sluice.progress.resources import PipelineResources
from sluice.protocol.ingest.budget import QuarantineRatio

_BATCHES = 5
_STALE = (RecordState.SUPERSEDED, RecordState.UNDONE, RecordState.DROPPED)

Samples = Mapping[QuarantinedRecord, Record]


@click.command("list")
@arguments
def list_reasons(pipeline: str, as_json: bool) -> None:
    """Show the quarantined records of PIPELINE by reason, and the budget `max_ratio`."""
    parts = open_named(pipeline).parts
    found = read_quarantined(parts)
    live, waiting = (
        group_errors(found.of(state)) for state in (RecordState.LIVE, RecordState.WAITING)
    )
    samples = read_records(parts, [each.sample for each in [*live, *waiting]])
    shown = {each.row: each for each in samples}
    budgets, stale = _budgets(parts, found), len(found.of(*_STALE))
    if as_json:
        print_json(
            {
                "pipeline": pipeline,
                "max_ratio": parts.spec.quarantine.max_ratio,
                "batches": [vars(each) | {"ratio": each.ratio} for each in budgets],
                "records": sum(len(each.rows) for each in live),
                "reasons": [_reason(each, shown) for each in live],
                "waiting": [_reason(each, shown) for each in waiting],
                "stale": stale,
            }
        )
        return
    if live:
        _print_reasons(f"{pipeline}: in quarantine, by reason", live, shown)
    else:
        click.echo(f"{pipeline}: no record is in quarantine")
    if waiting:
        title = "of batches that are planned and not committed; they do not count yet"
        _print_reasons(f"{pipeline}: {title}", waiting, shown)
    allowed = f"quarantine.max_ratio: {parts.spec.quarantine.max_ratio:.2%} of a batch's records"
    newest = ", ".join(f"{each.batch} {each.ratio:.2%}" for each in budgets)
    click.echo(f"{allowed}; newest batches: {newest or 'none'}")
    if stale:
        click.echo(f"rows that count no more: {stale:,}; `sluice maintain {pipeline}` removes them")


def _budgets(parts: PipelineResources, found: Quarantined) -> list[QuarantineRatio]:
    generation = found.history.sequence.generation
    newest = newest_receipts(parts, found.snapshot, generation, _BATCHES)
    return [QuarantineRatio(str(each.batch), each.records, each.quarantined) for each, _ in newest]


def _print_reasons(title: str, reasons: Sequence[ErrorGroup], shown: Samples) -> None:
    print_table(
        title,
        ("reason", "records", "first seen", "last seen", "partitions", "sample"),
        [
            (
                each.text,
                len(each.rows),
                f"{each.first_seen:%Y-%m-%d %H:%M}",
                f"{each.last_seen:%Y-%m-%d %H:%M}",
                ", ".join(map(str, each.partitions)),
                f"{each.sample}: {excerpt(shown[each.sample].value)}"
                if each.sample in shown
                else str(each.sample),
            )
            for each in reasons
        ],
    )


def _reason(reason: ErrorGroup, shown: Samples) -> dict[str, object]:
    sample = shown.get(reason.sample)
    return {
        "reason": reason.text,
        "records": len(reason.rows),
        "batches": sorted({each.batch for each in reason.rows}),
        "first_seen": reason.first_seen.isoformat(),
        "last_seen": reason.last_seen.isoformat(),
        "partitions": list(map(str, reason.partitions)),
        "sample": document_of(sample) if sample else None,
    }
