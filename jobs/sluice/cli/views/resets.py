"""Resets: what a reset or a skip would do, or did, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sluice.cli.output import moment_document, nothing_changed, print_json, print_table
from sluice.offsets.origin import Origin
from sluice.offsets.resets import CursorMove, Reset

if TYPE_CHECKING:
    from sluice.operations.reset.preview import AffectedRows, Preview
    from sluice.operations.reset.skip_rules import Skip

_COLUMNS = ("partition", "cursor", "new cursor", "read again", "skipped")


def print_preview(preview: Preview, as_json: bool) -> None:
    """What a reset would do, with what Kafka and the tables hold."""
    found = preview.reset
    if as_json:
        print_json(reset_document(found, preview))
        return
    print_table(
        f"{found.pipeline}: a reset to generation {found.generation} would move the cursor",
        (*_COLUMNS, "Kafka holds", "rows replaced", "quarantined"),
        [(*_row(each), *_held(preview.affected[each.partition])) for each in found.cursor],
    )
    for line in preview.remarks:
        click.echo(line)
    if preview.first:
        click.echo("Nothing was changed: --execute --reason … finishes the interrupted reset only.")
        return
    held_to = "from this state only" if found.towards else "exactly this"
    how = nothing_changed(preview.asks_consent)
    click.echo(f"{how}, and with --as-previewed {found.preview} {held_to}.")


def print_reset(found: Reset, as_json: bool) -> None:
    """What a reset did."""
    if as_json:
        print_json(reset_document(found))
        return
    title = f"{found.pipeline}: a reset to generation {found.generation} has moved the cursor"
    print_table(title, _COLUMNS, [_row(each) for each in found.cursor])
    click.echo(found.last_before)


def print_skip(found: Skip, as_json: bool) -> None:
    """What a skip would do, did, or had done before."""
    if as_json:
        print_json(_skip_document(found))
        return
    if not found.plan:
        click.echo(f"{found.pipeline}: already skipped, nothing to do:\n{found.summary}")
        return
    state = "skipped" if found.done else "would be skipped"
    click.echo(f"{found.pipeline}: {state}:\n{found.summary}")
    if found.done:
        click.echo("The next run lands these batches.")
    else:
        exactly = f", and with --as-previewed {found.preview} exactly this"
        click.echo(f"{nothing_changed()}{'' if found.interrupted else exactly}.")


def reset_told(found: Reset) -> str:
    """A recorded reset in one line: who, when, why, and how far it moved the cursor."""
    skipped = sum(each.skipped for each in found.cursor)
    again = sum(each.reread for each in found.cursor)
    return f"{found.recorded}: {found.reason} ({skipped:,} skipped, {again:,} read again)"


def reset_document(found: Reset, preview: Preview | None = None) -> dict[str, object]:
    """A reset as JSON-able values."""
    affected = preview.affected if preview else {}
    document: dict[str, object] = {
        "pipeline": found.pipeline,
        "generation": found.generation,
        "preview": found.preview,
        "executed": found.done,
        "closed_at": found.closed_at,
        "reason": found.reason,
        **recorded_document(found.recorded),
        "partitions": [_partition(each, affected.get(each.partition)) for each in found.cursor],
    }
    if preview is not None:
        document["unfinished"] = [str(batch) for batch in preview.unfinished]
        document["erased_rows"] = preview.erased.rows
        document["changed_rows"] = preview.erased.changed_rows
        document["erased"] = list(preview.erased.lines)
    return document


def recorded_document(found: Origin | None) -> dict[str, object]:
    """Who and when, for programs; null for what was not read back."""
    return {
        "run_id": found.run_id if found else None,
        "actor": found.actor if found else None,
        "recorded_at": moment_document(found.at if found else None),
    }


def _partition(moved: CursorMove, affected: AffectedRows | None) -> dict[str, object]:
    found: dict[str, object] = {
        "topic": moved.partition.topic,
        "partition": moved.partition.partition,
        "cursor_before": moved.before,
        "cursor_after": moved.after.offsets.start,
        "read_again": moved.reread,
        "skipped": moved.skipped,
    }
    if affected is not None:
        log = affected.log
        found |= {
            "asked": moved.requested,
            "log_start_offset": log.log_start_offset if log else None,
            "last_stable_offset": log.last_stable_offset if log else None,
            "rows_replaced": affected.rows,
            "quarantined_replaced": affected.quarantined,
        }
    return found


def _skip_document(found: Skip) -> dict[str, object]:
    return {
        "pipeline": found.pipeline,
        "preview": found.preview,
        "executed": found.done,
        "unfinished": [str(batch) for batch in found.unfinished],
        "skipped": [
            {
                "topic": each.offsets.partition.topic,
                "partition": each.offsets.partition.partition,
                "offset": each.offsets.start,
                "reason": str(each.cause),
            }
            for each in found.skips
        ],
        "batches": {
            str(batch): [str(each.offsets) for each in batch.ranges] for batch in found.plan.batches
        },
    }


def _row(moved: CursorMove) -> tuple[object, ...]:
    after = moved.after.offsets.start
    return str(moved.partition), moved.before, after, moved.reread, moved.skipped


def _held(affected: AffectedRows) -> tuple[object, ...]:
    return affected.held, affected.rows, affected.quarantined
