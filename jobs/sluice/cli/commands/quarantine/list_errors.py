"""`sluice quarantine list`: why records could not be decoded, and how many are allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import open_named
from sluice.cli.output import arguments, moment_document, print_json, print_table
from sluice.cli.views.records import document_of, undecoded
from sluice.moves import Move
from sluice.offsets.quantities import format_moment
from sluice.offsets.quarantined import QuarantinedRecord

if TYPE_CHECKING:
    from sluice.offsets.error_groups import ErrorGroup
    from sluice.offsets.quarantine_budget import QuarantineBudget
    from sluice.operations.quarantine.listing import QuarantineListing
    from sluice.progress.quarantined_records import Record

    Samples = Mapping[QuarantinedRecord, Record]


@click.command("list", short_help="Show why records could not be decoded, and how many.")
@arguments
def list_reasons(pipeline: str, as_json: bool) -> None:
    """Show the quarantined records of PIPELINE by reason, and how many a batch may have."""
    from sluice.operations.quarantine.listing import list_quarantine

    resources = open_named(pipeline).resources
    found, allowed = list_quarantine(resources), resources.spec.quarantine.budget
    if as_json:
        print_json(_document(pipeline, allowed, found))
        return
    if found.live:
        _print_reasons(f"{pipeline}: in quarantine, by reason", found.live, found.samples)
    else:
        click.echo(f"{pipeline}: no records in quarantine")
    if found.waiting:
        title = "of batches that are planned and not committed; they do not count yet"
        _print_reasons(f"{pipeline}: {title}", found.waiting, found.samples)
    if found.altered:
        click.echo(f"others have altered the table: {found.altered}")
    newest = ", ".join(f"{e.batch} {e.ratio:.2%} ({e.quarantined:,})" for e in found.ratios)
    click.echo(f"allowed in a batch: {allowed}; newest batches: {newest or 'none'}")
    if found.stale:
        click.echo(f"rows that no longer count: {found.stale:,}; {_removal(pipeline, found)}")


def _removal(pipeline: str, found: QuarantineListing) -> str:
    """When `sluice maintain` removes the rows that no longer count."""
    maintain, until = Move("maintain", (pipeline,)), found.removable_from
    if found.removable == found.stale or until is None:
        return f"`{maintain}` removes them"
    return (
        f"`{maintain}` removes {found.removable:,} of them now, and all after"
        f" {format_moment(until)} UTC: until then, a RESTORE can bring them back"
    )


def _document(
    pipeline: str, allowed: QuarantineBudget, found: QuarantineListing
) -> dict[str, object]:
    return {
        "pipeline": pipeline,
        "max_ratio": allowed.max_ratio,
        "max_records": allowed.max_records,
        "batches": [vars(each) | {"ratio": each.ratio} for each in found.ratios],
        "records": sum(len(each.rows) for each in found.live),
        "reasons": [_reason(each, found.samples) for each in found.live],
        "waiting": [_reason(each, found.samples) for each in found.waiting],
        "altered": found.altered or None,
        "stale": found.stale,
        "removable": found.removable,
        "removable_from": moment_document(found.removable_from),
    }


def _print_reasons(title: str, reasons: Sequence[ErrorGroup], shown: Samples) -> None:
    print_table(
        title,
        (
            "reason",
            "records",
            "first seen (UTC)",
            "last seen (UTC)",
            "partitions",
            "sample of",
            "value",
        ),
        [
            (
                each.text,
                len(each.rows),
                format_moment(each.first_seen),
                format_moment(each.last_seen),
                ", ".join(map(str, each.partitions)),
                str(each.sample),
                undecoded(shown[each.sample]) if each.sample in shown else None,
            )
            for each in reasons
        ],
        prose=("reason", "value"),
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
