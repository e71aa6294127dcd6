"""`sluice recover`: build the offsets table from the data table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.options import bring_back_option, executing, require_reason
from sluice.cli.output import arguments, nothing_changed, print_json
from sluice.cli.views.resets import reset_document
from sluice.moves import Move, options
from sluice.offsets.quantities import format_count

if TYPE_CHECKING:
    from sluice.operations.recover.recovery import Recovery


@click.command(short_help="Build the offsets table of PIPELINE from its data table.")
@executing
@bring_back_option
@arguments
def recover(
    pipeline: str, reason: str, execute: bool, bring_back_erased: bool, as_json: bool
) -> None:
    """Build the offsets table of PIPELINE from its data table, which is taken to be right.

    For an offsets table that is lost, damaged, an older copy, of version 1, or of another data
    table. Without a data table, the offsets table gets another name, and the pipeline starts over.
    Shows what would be written; changes nothing without --execute. May be repeated after a crash.
    """
    require_reason(execute, reason, "recovery")
    from sluice.operations.recover import recover as recovery

    opened, caller = open_named(pipeline), current_user()
    origin = opened.origin(caller.run_id, caller.actor)
    if execute:
        found = recovery.recover(opened.resources, reason, origin, bring_back_erased)
    else:
        found = recovery.preview_recovery(opened.resources, reason, origin)
    if as_json:
        print_json(_document(found))
        return
    for line in _lines(found):
        click.echo(f"{pipeline}: {line}")
    if found and not found.done:
        click.echo(f"{nothing_changed(bool(found.coming_back))}.")


def _lines(found: Recovery) -> list[str]:
    if not found:
        return ["both tables agree, nothing to recover"]
    if found.begins_anew or found.opening is None:
        said = (
            "there is no data table: the pipeline's other tables get new names, the next run begins"
            " at `start`"
        )
        return [said, *map(str, found.holes), *([found.passed_over] if found.passed_over else [])]
    lines = ["the offsets table in place gets a new name"] if found.sets_aside else []
    if found.receipts:
        first, last = found.receipts[0].batch, found.receipts[-1].batch
        count = format_count(len(found.receipts), "batch", "batches")
        lines.append(f"{count} from the data table's log: {first} … {last}")
    if found.lost:
        lines.append(f"{found.lost:,} offsets without a row, which Kafka no longer holds: lost")
    lines += [f"{each}" for each in found.holes]
    if held := [each.loss.offsets for each in found.holes if each.held]:
        reread = Move("reprocess", (found.pipeline, *options("--range", held)))
        lines.append(f"Kafka holds what is skipped: `{reread}` reads it, if it is wanted")
    lines += [f"no receipt yet, the next run asks again: {each}" for each in found.left]
    if found.coming_back and not found.done:
        lines += [*found.coming_back, "such rows would come back: --bring-back-erased allows it"]
    if found.rows:
        rows = format_count(found.rows, "row")
        lines.append(
            f"{rows} of batches without a plan or receipt: no table shows any more which of their"
            " records were quarantined, lost, or deleted by others"
        )
    for each in found.opening.cursor:
        lines.append(f"{each.partition}: goes on at {each.after.offsets.start}")
    return [*lines, f"generation {found.opening.generation} is open"] if found.done else lines


def _document(found: Recovery) -> dict[str, object]:
    return {
        "pipeline": found.pipeline,
        "executed": found.done,
        "sets_aside": found.sets_aside,
        "begins_anew": found.begins_anew,
        "batches": [str(each.batch) for each in found.receipts],
        "lost": found.lost,
        "holes": [
            {**each.loss.offsets.as_dict(), "reason": str(each.loss.cause)} for each in found.holes
        ],
        "without_receipt": [str(each) for each in found.left],
        "rows_of_unknown_batches": found.rows,
        "coming_back": list(found.coming_back),
        "opening": reset_document(found.opening) if found.opening else None,
    }
