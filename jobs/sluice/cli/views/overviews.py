"""All pipelines at a glance, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from sluice.cli.output import moment_document, print_json, print_table
from sluice.cli.views.status import state_document
from sluice.offsets.lag import loss_told
from sluice.offsets.quantities import format_moment

if TYPE_CHECKING:
    from pathlib import Path

    from sluice.errors import SpecError
    from sluice.operations.overview.overview import Overview


_HEADINGS = (
    "pipeline",
    "state",
    "lag",
    "oldest unread",
    "time to loss",
    "complete until",
    "waiting",
    "last batch",
    "ago",
    "lost",
)
Refused = Mapping["Path", "SpecError"]


def print_overviews(found: Sequence[Overview], refused: Refused) -> None:
    """A line for each pipeline; below, which specs are refused, then why those that are not fresh
    are not, the worst first.
    """
    from sluice.operations.overview.breaches import breaches
    from sluice.operations.overview.overview import reasons, worst_first

    if found:
        print_table("pipelines", _HEADINGS, [_row(each) for each in found])
    elif not refused:
        click.echo("no pipelines: SLUICE_PIPELINES names the folder of their specs")
    for problem in refused.values():
        click.echo(f"refused: {problem}")
    worst = worst_first(found)
    for line in reasons(worst):
        click.echo(line)
    for each in worst:
        for breach in breaches(each):
            click.echo(f"{each.spec.pipeline}: {breach}")


def print_failing(found: Sequence[Overview], refused: Refused, limit: str) -> bool:
    """Say on standard error what `--fail-on LIMIT` fails on; returns whether it does."""
    from sluice.operations.overview.overview import Condition, as_bad_as

    bad = [
        f"{each.spec.pipeline} is {each.condition}" for each in as_bad_as(Condition(limit), found)
    ]
    bad += [f"{path} is refused" for path in refused]
    if not found and not refused:
        bad = ["there are no pipelines"]
    if bad:
        click.echo(f"--fail-on {limit}: {', '.join(bad)}", err=True)
    return bool(bad)


def print_overview_documents(found: Sequence[Overview], refused: Refused) -> None:
    """The same as one JSON document."""
    pipelines = [overview_document(each) for each in found]
    print_json(
        {
            "pipelines": pipelines,
            "refused": {str(path): str(problem) for path, problem in refused.items()},
        }
    )


def overview_document(found: Overview) -> dict[str, object]:
    """A pipeline at a glance as JSON-able values; what is unknown is null."""
    from sluice.operations.overview.breaches import breaches

    progress = found.progress
    last = progress.last if progress else None
    filtered = last.receipt.filtered if last else 0
    return {
        "pipeline": found.spec.pipeline,
        "table": found.spec.table,
        "state": found.condition.value,
        "reason": found.reason or None,
        "asked_at": found.asked.isoformat(),
        "generation": progress.generation if progress else None,
        "read_up_to": progress.positions if progress else None,
        "lag": found.lag,
        "lag_seconds": _seconds(found.age),
        "time_to_loss_seconds": _seconds(found.time_to_loss),
        "complete_until": moment_document(found.complete_until),
        "last_batch": str(last.receipt.batch) if last else None,
        "last_batch_at": moment_document(last.settled.at if last else None),
        "last_batch_records": last.receipt.records if last else None,
        **({"last_batch_filtered": filtered} if filtered else {}),
        "last_batch_seconds": _seconds(last.took) if last else None,
        "quarantine_ratio": found.quarantined,
        "quarantine_records": found.waiting,
        "unfinished": [str(each) for each in progress.unfinished] if progress else None,
        "unsettled": progress.unsettled if progress else None,
        "lost": progress.lost if progress else None,
        **({"state_table": state_document(found.state)} if found.state else {}),
        "breaches": {each.limit: each.text for each in breaches(found)},
    }


def _row(found: Overview) -> tuple[object, ...]:
    progress = found.progress
    last = progress.last if progress else None
    return (
        found.spec.pipeline,
        found.condition.value,
        found.lag,
        found.age,
        "unknown" if found.lags is None else loss_told(found.lags),
        format_moment(found.complete_until) if found.complete_until else None,
        found.waiting,
        str(last.receipt.batch) if last else None,
        found.silence,
        progress.lost if progress else None,
    )


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
