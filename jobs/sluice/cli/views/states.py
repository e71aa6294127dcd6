"""The state table, for people and as a document: what a refresh or a rebuild did, or would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sluice.cli.output import moment_document, print_table
from sluice.offsets.quantities import format_count, format_moment, format_size

if TYPE_CHECKING:
    from sluice.operations.rebuild import Rebuild
    from sluice.operations.state_history import StateHistory, StateRefresh
    from sluice.state_table.rules import StateRules
    from sluice.tables.table_size import TableSize


def rebuild_lines(found: Rebuild) -> Iterator[str]:
    """What was found, and what is or would be made of it."""
    if found.data_version is None:
        makes = "both" if found.now is None else "it; then repeat this command"
        yield f"there is no data table: the next run makes {makes}"
        return
    if found.done is not None:
        yield f"state: made anew from version {found.done.span.upto} of the data table: " + str(
            found.done.counts
        )
        return
    yield f"state: {_standing(found)}"
    yield f"data table, version {found.data_version}: {_size(found.data)}, of which it is made"
    if found.now is not None:
        yield f"state table now: {_size(found.now)}"
    yield from _rules(found.rules)


def _standing(found: Rebuild) -> str:
    if found.refusal is not None:
        return f"refused: {found.refusal}"
    if found.stands_at is None:
        return "not made yet: the next run makes it, or says why not"
    behind = (found.data_version or 0) - found.stands_at
    late = f", {format_count(behind, 'version')} behind" if behind else ""
    return f"stands at version {found.stands_at} of the data table{late}"


def _rules(rules: StateRules) -> Iterator[str]:
    order = ", ".join(rules.order_by) or "the topic's ids in turn, then _offset"
    yield f"a row for each {', '.join(rules.key)}: the newest by {order}"
    if rules.deleted_when is not None:
        yield f"deleted by a tombstone, or where {rules.deleted_when}"


def _size(size: TableSize) -> str:
    return f"{format_count(size.rows, 'row')}, {format_size(size.size)}"


def rebuild_document(found: Rebuild) -> dict[str, object]:
    """The same for programs."""
    rules = found.rules
    return {
        "pipeline": found.pipeline,
        "executed": found.done is not None,
        "state_table": found.uri,
        "refusal": None if found.refusal is None else str(found.refusal),
        "stands_at": found.stands_at,
        "data_version": found.data_version,
        "data": vars(found.data),
        "state": None if found.now is None else vars(found.now),
        "key": list(rules.key),
        "order_by": list(rules.order_by),
        "deleted_when": rules.deleted_when,
        "done": None if found.done is None else found.done.as_dict(),
    }


def print_refreshes(pipeline: str, found: StateHistory) -> None:
    """Print the newest refreshes, or why they are unknown."""
    if found.unknown:
        click.echo(f"state table: unknown: {found.unknown}")
        return
    print_table(
        f"{pipeline}: newest refreshes of the state table",
        ("version", "of the data table", "rows", "committed (UTC)"),
        [
            (
                each.version,
                each.followed,
                each.told.counts,
                format_moment(each.at) if each.at else None,
            )
            for each in found.refreshes
        ],
        prose=("rows",),
    )


def state_history_document(found: StateHistory) -> dict[str, object]:
    """The same for programs."""
    return {
        "refreshes": [_refresh_document(each) for each in found.refreshes],
        "unknown": found.unknown or None,
    }


def _refresh_document(refresh: StateRefresh) -> dict[str, object]:
    told = refresh.told
    return {
        "version": refresh.version,
        "after": told.after,
        "data_version": told.data_version,
        "kind": told.kind,
        **told.counts.as_dict(),
        "committed_at": moment_document(refresh.at),
    }
