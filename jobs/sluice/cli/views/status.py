"""One pipeline's status: each partition's cursor and lag, and what is unfinished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sluice.cli.output import moment_document, print_json, print_table
from sluice.cli.views.lags import partition_document
from sluice.cli.views.resets import reset_document, reset_told
from sluice.cli.views.stocks import stock_document, stock_lines
from sluice.offsets.filtered import told
from sluice.offsets.group_lag import GroupLag
from sluice.offsets.lag import Lag, loss_told
from sluice.offsets.quantities import format_count, format_moment

if TYPE_CHECKING:
    from sluice.operations.overview.overview import Overview
    from sluice.operations.state_status import StateStatus
    from sluice.operations.status import PipelineStatus, UnknownStatus
    from sluice.progress.lane_state import LaneState


def print_status(found: PipelineStatus | UnknownStatus, glance: Overview, as_json: bool) -> None:
    """The status, for people or for programs; `glance` is the same pipeline among all."""
    from sluice.operations.status import UnknownStatus

    if isinstance(found, UnknownStatus):
        _print_unknown(found, glance, as_json)
    elif as_json:
        print_json(_document(found) | _judged(glance))
    else:
        _print(found, glance)


def _judged(glance: Overview) -> dict[str, object]:
    """How it is, why, and which limits of `alerts` it exceeds."""
    from sluice.operations.overview.breaches import breaches

    return {
        "condition": glance.condition.value,
        "reason": glance.reason or None,
        "breaches": {each.limit: each.text for each in breaches(glance)},
    }


_KEYS = (
    *("generation", "complete_until", "last_batch", "unfinished", "unsettled", "backfill"),
    *("quarantine", "lost", "reset"),
)


def _print_unknown(found: UnknownStatus, glance: Overview, as_json: bool) -> None:
    if as_json:
        unknown = dict.fromkeys((*_KEYS, "consumer_group", "partitions"))
        notes = {"notes": list(found.notes)}
        print_json({"pipeline": found.pipeline, **unknown, **notes, **_judged(glance)})
        return
    for line in found.notes:
        click.echo(f"{found.pipeline}: {line}")


def _document(found: PipelineStatus) -> dict[str, object]:
    forward, receipt = found.forward, found.last_receipt
    opening = found.opening
    return {
        "pipeline": forward.pipeline,
        "generation": forward.generation,
        "complete_until": moment_document(found.complete_until),
        **_lane_document(forward),
        **({"last_batch_filtered": receipt.filtered} if receipt and receipt.filtered else {}),
        "backfill": _lane_document(found.backfill),
        "quarantine": stock_document(found.waiting, found.samples),
        "lost": found.lost,
        "reset": reset_document(opening) if opening else None,
        "consumer_group": _group_document(found.group) if found.group else None,
        **({"state": state_document(found.state)} if found.state else {}),
        "partitions": [partition_document(each) for each in found.lags],
        "notes": list(found.notes),
    }


def _lane_document(lane: LaneState) -> dict[str, object]:
    return {
        "last_batch": str(lane.last) if lane.last else None,
        "unfinished": [str(batch) for batch in lane.unfinished],
        "unsettled": len(lane.due),
    }


def _group_document(group: GroupLag) -> dict[str, object]:
    return {
        "group": group.group,
        "partitions": group.partitions,
        "behind": group.behind,
        "ahead": group.ahead,
        "unknown": group.unknown or None,
    }


def state_document(state: StateStatus) -> dict[str, object]:
    """A state table's status as JSON values."""
    return {
        "stands_at": state.stands_at,
        "behind": state.behind,
        "behind_since": moment_document(state.since),
        "last_refresh": dict(state.last.counts.as_dict()) if state.last else None,
        "rebuilding": state.is_rebuilding,
        "refused": str(state.refusal) if state.refusal else None,
        "unknown": state.unknown or None,
    }


def _print(found: PipelineStatus, glance: Overview) -> None:
    from sluice.operations.overview.breaches import breaches
    from sluice.progress.overdue import without_receipt

    forward = found.forward
    reached = f"generation {forward.generation}, last batch {forward.last or 'none'}"
    print_table(
        f"{forward.pipeline}: {glance.condition}, {reached}",
        ("partition", "cursor", "LSO", "end", "lag", "oldest unread", "time to loss", "held back"),
        [_row(each) for each in found.lags],
    )
    if glance.reason and not any(glance.reason in each for each in found.notes):
        click.echo(f"{glance.condition}: {glance.reason}")
    if (receipt := found.last_receipt) and receipt.filtered:
        records = format_count(receipt.records, "record")
        counts = f"{records}, {receipt.quarantined:,} quarantined{told(receipt.filtered)}"
        click.echo(f"{receipt.batch}: {counts} (left out by `only`)")
    for line in filter(None, [*(each.waiting for each in found.lags), *found.notes]):
        click.echo(line)
    for breach in breaches(glance):
        click.echo(str(breach))
    click.echo(f"complete until: {_complete_until(found)}")
    for line in stock_lines(forward.pipeline, found.waiting, found.samples):
        click.echo(line)
    if found.group:
        click.echo(str(found.group))
    if found.state:
        click.echo(f"state table: {found.state}.")
    if opening := found.opening:
        click.echo(f"opened by a reset: {reset_told(opening)}")
    if found.losses:
        records = format_count(len(found.losses), "loss record")
        click.echo(f"lost: {format_count(found.lost, 'offset')} in {records}")
    if forward.unfinished:
        unfinished = ", ".join(map(str, forward.unfinished))
        again = "" if glance.refused else " The next run tries them again."
        click.echo(f"planned, not committed yet: {unfinished}.{again}")
    for lane in (forward, found.backfill):
        for line in without_receipt(lane):
            click.echo(line)


def _complete_until(found: PipelineStatus) -> str:
    if found.complete_until is not None:
        return f"{format_moment(found.complete_until)} UTC"
    if found.backfill.due:
        return "unknown until the batches of the backfill have their receipts"
    return (
        "unknown: no batch has reached the end of the logs since the beginning, the last reset, or"
        " the topic that was named last; or others have altered a table"
    )


def _row(lag: Lag) -> tuple[object, ...]:
    return (
        str(lag.partition),
        lag.cursor,
        lag.last_stable_offset,
        lag.end_offset,
        lag.records,
        lag.age,
        loss_told([lag]),
        lag.held_back,
    )
