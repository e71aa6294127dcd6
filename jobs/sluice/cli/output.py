"""Output: what a command found, as a table for people or as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import click

from sluice.offsets.quantities import format_duration

Command = TypeVar("Command", bound=Callable[..., Any])


def arguments(command: Command) -> Command:
    """The argument and the option that every command has."""
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return click.argument("pipeline")(as_json(command))


def print_json(found: Any) -> None:
    """Print one JSON document."""
    json.dump(found, sys.stdout, indent=2, default=str)
    sys.stdout.write("\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; numbers to the right, unknown values as a dash."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    listed = [list(row) for row in rows]
    for number, column in enumerate(columns):
        numeric = any(isinstance(row[number], int) for row in listed)
        table.add_column(column, justify="right" if numeric else "left")
    for row in listed:
        table.add_row(*map(_shown, row))
    # A pipe has no width.
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case int():
            return f"{value:,}"
        case timedelta():
            return format_duration(value)
        case _:
            from rich.markup import escape

            # Text from outside may look like markup.
            return escape(str(value))
