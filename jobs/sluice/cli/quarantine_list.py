"""`sluice quarantine list`: why records could not be decoded, and how many are allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from sluice.cli.opening import opened
from sluice.cli.output import arguments, print_json, print_table
from sluice.cli.records import document_of, excerpt
from sluice.pipeline import Parts
from sluice.pipeline.committed import newest_receipts
from sluice.pipeline.quarantined import Quarantined, Record, read_quarantined, read_records
from sluice.planning.aside import Aside, State
from sluice.planning.reasons import Budget, Reason, by_reason

_BATCHES = 5
_STALE = (State.SUPERSEDED, State.UNDONE, State.DROPPED)

Samples = Mapping[Aside, Record]


@click.command("list")
@arguments
def list_reasons(pipeline: str, as_json: bool) -> None:
    """Show the quarantined records of PIPELINE by reason, and the budget `max_ratio`."""
    parts = opened(pipeline).parts
    found = read_quarantined(parts)
    live, waiting = (by_reason(found.of(state)) for state in (State.LIVE, State.WAITING))
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
        click.echo(f"{stale:,} rows that count no more; `sluice maintain {pipeline}` removes them")


def _budgets(parts: Parts, found: Quarantined) -> list[Budget]:
    generation = found.history.sequence.generation
    newest = newest_receipts(parts, found.snapshot, generation, _BATCHES)
    return [Budget(str(each.batch), each.records, each.quarantined) for each, _ in newest]


def _print_reasons(title: str, reasons: Sequence[Reason], shown: Samples) -> None:
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


def _reason(reason: Reason, shown: Samples) -> dict[str, object]:
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
